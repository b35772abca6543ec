// ts_queue with the counters that all share, under what is asked of every collection, and what its clocks' parameters
// may be.
#include <polder/ds/queue/ts_queue.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_queue_atomic, ts_queue_atomic);
POLDER_COLLECTION_SUITE(ts_queue_cas, ts_queue_cas);

TEST(ts_queue, a_delay_is_the_clocks) {
  eager::drained<smr::debra> d;
  ts_queue_interval<int, smr::debra> s(d, 500);
  ts_queue_cas<int, smr::debra> c(d, 3);
  EXPECT_TRUE(s.enqueue(1) && s.enqueue(2) && c.enqueue(1) && c.enqueue(2));
  EXPECT_EQ(s.dequeue(), 1);
  EXPECT_EQ(c.dequeue(), 1);
  using queue = ts_queue_interval<int, smr::debra>;
  EXPECT_THROW(queue(d, interval_clock::longest + 1), std::invalid_argument);
  using counting = ts_queue_cas<int, smr::debra>;
  EXPECT_THROW(counting(d, cas_clock::longest + 1), std::invalid_argument);
}

}  // namespace
}  // namespace polder::ds::collection_suite
