// rts_queue under what is asked of every collection, and its order across threads at rest.
#include <polder/ds/queue/rts_queue.hpp>

#include <gtest/gtest.h>

#include <thread>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(rts_queue, rts_queue);

// Nothing overlaps, so each element is behind all that were put before, whoever put them; and gets that found nothing
// have not used up what makes the order.
TEST(rts_queue, what_does_not_overlap_is_in_order) {
  eager::hazard::domain d;
  rts_queue<long, eager::hazard> q(d);
  for (int i = 0; i != 100; ++i) EXPECT_FALSE(q.dequeue().has_value());
  std::thread([&] { q.enqueue(1); }).join();
  q.enqueue(2);
  std::thread([&] {
    q.enqueue(3);
    std::thread([&] { q.enqueue(4); }).join();
  }).join();
  for (long n = 1; n != 5; ++n) EXPECT_EQ(q.dequeue(), n);
  EXPECT_FALSE(q.dequeue().has_value());
}

}  // namespace
}  // namespace polder::ds::collection_suite
