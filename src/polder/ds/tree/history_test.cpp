// The checker of histories: what it must accept, and what it must not.
#include <polder/ds/tree/history_test.hpp>

#include <gtest/gtest.h>

namespace polder::ds {
namespace {

using enum history::call;
constexpr long none = history::none;

bool holds(std::vector<history::operation> operations) {
  history h;
  h.add(operations);
  return h.linearizable();
}

TEST(history, one_after_the_other) {
  EXPECT_TRUE(holds({{insert, 1, 7, true, 0, 1}, {get, 1, 7, true, 2, 3}, {take, 1, 7, true, 4, 5}}));
  EXPECT_TRUE(holds({{erase, 1, none, false, 0, 1}, {insert, 1, 7, true, 2, 3}, {insert, 1, 8, false, 4, 5}}));
  EXPECT_FALSE(holds({{insert, 1, 7, true, 0, 1}, {contains, 1, none, false, 2, 3}}));
  EXPECT_FALSE(holds({{insert, 1, 7, true, 0, 1}, {insert, 1, 8, true, 2, 3}}));
  EXPECT_FALSE(holds({{insert, 1, 7, true, 0, 1}, {insert, 1, 8, false, 2, 3}, {get, 1, 8, true, 4, 5}}));
  EXPECT_FALSE(holds({{erase, 1, none, true, 0, 1}}));
}

TEST(history, those_at_the_same_time_in_any_order) {
  EXPECT_TRUE(holds({{insert, 1, 7, true, 0, 3}, {contains, 1, none, true, 1, 2}}));
  EXPECT_TRUE(holds({{insert, 1, 7, true, 0, 3}, {contains, 1, none, false, 1, 2}}));
  EXPECT_TRUE(holds({{erase, 1, none, true, 0, 5}, {insert, 1, 7, true, 1, 2}, {insert, 1, 8, true, 3, 4}}));
  // Seen, and then not any more, while nothing erases.
  EXPECT_FALSE(
      holds({{insert, 1, 7, true, 0, 5}, {contains, 1, none, true, 1, 2}, {contains, 1, none, false, 3, 4}}));
  // Both erased what was inserted once.
  EXPECT_FALSE(holds({{insert, 1, 7, true, 0, 1}, {erase, 1, none, true, 2, 5}, {take, 1, 7, true, 3, 4}}));
}

TEST(history, keys_do_not_mix) {
  EXPECT_TRUE(holds({{insert, 1, 7, true, 0, 1}, {contains, 2, none, false, 2, 3}, {get, 1, 7, true, 4, 5}}));
  EXPECT_FALSE(holds({{insert, 1, 7, true, 0, 1}, {get, 2, 7, true, 2, 3}}));
}

}  // namespace
}  // namespace polder::ds
