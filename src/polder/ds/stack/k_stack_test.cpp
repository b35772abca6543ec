// k_stack under what is asked of every collection, and with segments of several sizes.
#include <polder/ds/stack/k_stack.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::collection_suite {
namespace {

template <class T, class R, class M>
struct of_two : k_stack<T, R, M> {
  explicit of_two(typename R::domain& d) : k_stack<T, R, M>(d, 2) {}
};

POLDER_COLLECTION_SUITE(k_stack, k_stack);
POLDER_COLLECTION_SUITE(k_stack_of_two, of_two);

using stack = k_stack<std::uint64_t, smr::debra>;

TEST(k_stack, a_k_of_nothing_is_refused) {
  drained<smr::debra> domain;
  EXPECT_THROW(stack(domain, 0), std::invalid_argument);
  EXPECT_THROW(stack(domain, most_k + 1), std::invalid_argument);
}

TEST(k_stack, of_one_slot_is_a_stack) {
  drained<smr::debra> domain;
  stack s(domain, 1);
  EXPECT_EQ(s.k(), 0u);
  for (std::uint64_t i = 0; i != 100; ++i) s.push(i);
  for (std::uint64_t i = 0; i != 100; ++i) ASSERT_EQ(s.pop(), 99 - i);
  ASSERT_FALSE(s.pop());
}

TEST(k_stack, any_of_a_segment_comes_out) {
  drained<smr::debra> domain;
  std::set<std::uint64_t> seen;
  for (int round = 0; round != 300; ++round) {
    stack s(domain, 4);
    for (std::uint64_t i = 0; i != 8; ++i) s.push(i);
    seen.insert(*s.pop());
  }
  EXPECT_EQ(seen, (std::set<std::uint64_t>{4, 5, 6, 7}));
}

TEST(k_stack, a_pair_of_push_and_pop_costs_no_memory) {
  drained<smr::debra> domain;
  stack s(domain, 80);
  for (std::uint64_t i = 0; i != 800; ++i) {
    s.push(i);
    ASSERT_EQ(s.pop(), i);
  }
  EXPECT_EQ(domain.statistics().retired, 0u);
}

}  // namespace
}  // namespace polder::ds::collection_suite
