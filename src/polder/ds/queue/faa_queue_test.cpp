// faa_queue under what is asked of every collection, and each putter's order across segments.
#include <polder/ds/queue/faa_queue.hpp>

#include <gtest/gtest.h>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/producers_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(faa_queue, faa_queue);

TEST(faa_queue, keeps_the_order_of_each_putter_across_segments) {
  eager::drained<smr::debra> d;
  faa_queue<long, smr::debra> q(d);
  EXPECT_TRUE(in_order_of_putters(q, 2, 2, 10'000));
  EXPECT_TRUE(in_order_of_putters(q, 3, 1, 2'000));
  EXPECT_FALSE(q.dequeue().has_value());
}

TEST(faa_queue, many_segments_go_by) {
  eager::drained<smr::debra> d;
  faa_queue<std::unique_ptr<long>, smr::debra> q(d);
  const long all = long(5 * q.cells + 3);
  for (long i = 0; i != all; ++i) q.enqueue(std::make_unique<long>(i));
  for (long i = 0; i != all; ++i) ASSERT_EQ(**q.dequeue(), i);
  ASSERT_FALSE(q.dequeue().has_value());
  for (long i = 0; i != all; ++i) {
    q.enqueue(std::make_unique<long>(i));
    ASSERT_EQ(**q.dequeue(), i);
    ASSERT_FALSE(q.dequeue().has_value());
  }
}

TEST(faa_queue, threads_that_are_taken_off_inside_lose_nothing) {
  eager::drained<smr::debra> d;
  faa_queue<hesitant, smr::debra> q(d);
  EXPECT_TRUE(in_order_of_putters(q, 2, 2, 2'000));
  EXPECT_FALSE(q.dequeue().has_value());
}

}  // namespace
}  // namespace polder::ds::collection_suite
