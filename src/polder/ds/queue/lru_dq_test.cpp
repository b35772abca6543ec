// lru_dq under what is asked of every collection, and how far out of order it comes.
#include <polder/ds/queue/lru_dq.hpp>

#include <gtest/gtest.h>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(lru_dq, lru_dq);

TEST(lru_dq, one_backend_is_a_queue) {
  drained<smr::debra> d;
  lru_dq<long, smr::debra> q(d, 1);
  ASSERT_EQ(q.k(), 0u);
  for (long i = 0; i != 100; ++i) q.enqueue(i);
  for (long i = 0; i != 100; ++i) ASSERT_EQ(q.dequeue(), i);
  ASSERT_FALSE(q.dequeue());
}

TEST(lru_dq, none_backend_is_refused) {
  drained<smr::debra> d;
  EXPECT_THROW((lru_dq<long, smr::debra>(d, 0)), std::invalid_argument);
}

// Gets that found nothing do not move the rounds, so the order is kept: a round of puts is a round of gets.
TEST(lru_dq, rounds_come_in_order) {
  drained<smr::debra> d;
  constexpr long p = 5;
  lru_dq<long, smr::debra> q(d, p);
  for (long round = 0; round != 50; ++round) {
    for (int i = 0; i != 3; ++i) ASSERT_FALSE(q.dequeue());
    for (long i = 0; i != 2 * p; ++i) q.enqueue(i);
    for (long i = 0; i != 2 * p; ++i) ASSERT_EQ(q.dequeue().value() / p, i / p);
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
