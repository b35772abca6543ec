// lcrq under what is asked of every collection, with rings of several sizes, and with every 64-bit value.
#include <polder/ds/queue/lcrq.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::collection_suite {
namespace {

template <std::size_t Ring>
struct of_rings {
  template <class T, class R, class M>
  struct queue : lcrq<T, R, M> {
    explicit queue(typename R::domain& d) : lcrq<T, R, M>(d, Ring) {}
  };
};

POLDER_COLLECTION_SUITE(lcrq, lcrq);
POLDER_COLLECTION_SUITE(lcrq_of_small_rings, of_rings<4>::queue);

TEST(lcrq, no_value_means_none) {
  drained<smr::debra> domain;
  lcrq<std::uint64_t, smr::debra> q(domain, 4);
  for (int round = 0; round != 5; ++round) {
    for (const std::uint64_t v : {0ull, ~0ull, 1ull << 63, 0ull, 1ull}) ASSERT_TRUE(q.enqueue(v));
    for (const std::uint64_t v : {0ull, ~0ull, 1ull << 63, 0ull, 1ull}) ASSERT_EQ(q.dequeue(), v);
    ASSERT_FALSE(q.dequeue());
  }
}

TEST(lcrq, a_ring_that_is_no_power_of_two_is_refused) {
  drained<smr::debra> domain;
  using queue = lcrq<int, smr::debra>;
  for (const std::size_t size : {0, 1, 3, 1000}) EXPECT_THROW(queue(domain, size), std::invalid_argument) << size;
}

TEST(lcrq, an_empty_queue_keeps_its_ring) {
  drained<smr::debra> domain;
  lcrq<int, smr::debra> q(domain, 8);
  for (int i = 0; i != 1000; ++i) {
    ASSERT_FALSE(q.dequeue());
    ASSERT_TRUE(q.enqueue(i));
    ASSERT_EQ(q.dequeue(), i);
  }
  EXPECT_EQ(domain.statistics().retired, 0u);
}

}  // namespace
}  // namespace polder::ds::collection_suite
