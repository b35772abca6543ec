// slot: what is free and what has an element, also where the count of turns comes round.
#include <polder/ds/parts/slot.hpp>

#include <gtest/gtest.h>

namespace polder::ds {
namespace {

TEST(slot, tells_turns_apart_where_their_count_comes_round) {
  constexpr std::uint64_t round = std::uint64_t{1} << 47;
  for (const std::uint64_t first : {std::uint64_t{1}, round / 2 - 3, round - 3, 5 * round - 3}) {
    slot_state s = slot_state::with_element(first - 1, 7).emptied();
    for (std::uint64_t turn = first; turn != first + 6; ++turn) {
      const once now{turn}, before{turn - 1}, after{turn + 3};
      ASSERT_TRUE(now.is_free(s) && after.is_free(s)) << turn;
      ASSERT_FALSE(now.has_element(s) || before.is_free(s)) << turn;
      s = slot_state::with_element(now.next(s), 7);
      ASSERT_TRUE(now.has_element(s)) << turn;
      ASSERT_FALSE(now.is_free(s) || before.has_element(s) || after.has_element(s)) << turn;
      ASSERT_EQ(s.owner(), 7);
      s = s.emptied();
      ASSERT_FALSE(now.is_free(s) || now.has_element(s)) << turn;
    }
  }
}

// What was never used is free in the first turn, and in all of the first half.
TEST(slot, that_is_new_is_free) {
  for (const std::uint64_t turn : {std::uint64_t{1}, std::uint64_t{2}, (std::uint64_t{1} << 46) - 1})
    EXPECT_TRUE(once{turn}.is_free(slot_state{})) << turn;
}

}  // namespace
}  // namespace polder::ds
