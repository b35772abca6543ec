// vyukov_ring under what is asked of every collection, and its capacity.
#include <polder/ds/queue/vyukov_ring.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/producers_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(vyukov_ring, vyukov_ring);

using ring = vyukov_ring<long, smr::leaky>;

TEST(vyukov_ring, holds_what_its_capacity_says_and_gives_it_back_in_order) {
  for (const std::size_t asked : {1, 2, 3, 8, 100}) {
    ring r(asked);
    ASSERT_GE(r.capacity(), asked);
    for (long round = 0; round != 3; ++round) {
      for (std::size_t i = 0; i != r.capacity(); ++i) ASSERT_TRUE(r.enqueue(long(i)));
      ASSERT_FALSE(r.enqueue(-1)) << asked;
      ASSERT_EQ(*r.dequeue(), 0);
      ASSERT_TRUE(r.enqueue(long(r.capacity())));
      for (std::size_t i = 1; i <= r.capacity(); ++i) ASSERT_EQ(*r.dequeue(), long(i));
      ASSERT_FALSE(r.dequeue().has_value());
    }
  }
  EXPECT_EQ(ring(100).capacity(), 128u);
}

TEST(vyukov_ring, what_does_not_get_in_is_as_it_was) {
  vyukov_ring<std::unique_ptr<long>, smr::leaky> r(2);
  auto inside = std::make_unique<long>(1), outside = std::make_unique<long>(2);
  ASSERT_TRUE(r.put(std::move(inside)));
  ASSERT_TRUE(r.put(std::make_unique<long>(3)));
  ASSERT_FALSE(r.put(std::move(outside)));
  ASSERT_TRUE(outside != nullptr && *outside == 2);
}

TEST(vyukov_ring, a_capacity_that_cannot_be_is_refused) {
  const auto says = [](std::size_t capacity) -> std::string {
    try {
      ring r(capacity);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(says(0), "vyukov-ring: the capacity must be at least 1");
  EXPECT_EQ(says((std::size_t{1} << 30) + 1), "vyukov-ring: the capacity must be at most 2^30, not 1073741825");
}

TEST(vyukov_ring, threads_that_are_taken_off_inside_lose_nothing) {
  vyukov_ring<hesitant, smr::leaky> q(8);
  EXPECT_TRUE(in_order_of_putters(q, 2, 2, 2'000));
  EXPECT_FALSE(q.dequeue().has_value());
}

}  // namespace
}  // namespace polder::ds::collection_suite
