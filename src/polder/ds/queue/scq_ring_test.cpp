// scq_ring under what is asked of every collection, its capacity, and each putter's order around a small ring.
#include <polder/ds/queue/scq_ring.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/producers_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(scq_ring, scq_ring);

using ring = scq_ring<long, smr::leaky>;

TEST(scq_ring, holds_what_its_capacity_says_and_gives_it_back_in_order) {
  for (const std::size_t asked : {1, 2, 3, 8, 100}) {
    ring r(asked);
    ASSERT_GE(r.capacity(), asked);
    for (long round = 0; round != 9; ++round) {
      for (std::size_t i = 0; i != r.capacity(); ++i) ASSERT_TRUE(r.enqueue(long(i)));
      ASSERT_FALSE(r.enqueue(-1)) << asked;
      ASSERT_EQ(*r.dequeue(), 0);
      ASSERT_TRUE(r.enqueue(long(r.capacity())));
      for (std::size_t i = 1; i <= r.capacity(); ++i) ASSERT_EQ(*r.dequeue(), long(i));
      for (std::size_t i = 0; i != 4 * r.capacity(); ++i) ASSERT_FALSE(r.dequeue().has_value());
    }
  }
  EXPECT_THROW(ring(0), std::invalid_argument);
}

TEST(scq_ring, keeps_the_order_of_each_putter_in_little_room) {
  for (const std::size_t capacity : {1, 4, 64}) {
    ring r(capacity);
    EXPECT_TRUE(in_order_of_putters(r, 2, 2, 3'000));
    EXPECT_FALSE(r.dequeue().has_value());
  }
}

TEST(scq_ring, threads_that_are_taken_off_inside_lose_nothing) {
  scq_ring<hesitant, smr::leaky> q(8);
  EXPECT_TRUE(in_order_of_putters(q, 2, 2, 2'000));
  EXPECT_FALSE(q.dequeue().has_value());
}

}  // namespace
}  // namespace polder::ds::collection_suite
