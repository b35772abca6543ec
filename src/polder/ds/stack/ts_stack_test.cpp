// ts_stack with the counters that all share, under what is asked of every collection, and what its clocks' parameters
// may be.
#include <polder/ds/stack/ts_stack.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_stack_atomic, ts_stack_atomic);
POLDER_COLLECTION_SUITE(ts_stack_cas, ts_stack_cas);

TEST(ts_stack, a_delay_is_the_clocks) {
  eager::drained<smr::debra> d;
  ts_stack_interval<int, smr::debra> s(d, 500);
  ts_stack_cas<int, smr::debra> c(d, 3);
  EXPECT_TRUE(s.push(1) && s.push(2) && c.push(1) && c.push(2));
  EXPECT_EQ(s.pop(), 2);
  EXPECT_EQ(c.pop(), 2);
  using stack = ts_stack_interval<int, smr::debra>;
  EXPECT_THROW(stack(d, interval_clock::longest + 1), std::invalid_argument);
  using counting = ts_stack_cas<int, smr::debra>;
  EXPECT_THROW(counting(d, cas_clock::longest + 1), std::invalid_argument);
}

}  // namespace
}  // namespace polder::ds::collection_suite
