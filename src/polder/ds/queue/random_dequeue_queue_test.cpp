// random_dequeue_queue under what is asked of every collection, and its quasi factor.
#include <polder/ds/queue/random_dequeue_queue.hpp>

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(random_dequeue_queue, random_dequeue_queue);

using queue = random_dequeue_queue<int, smr::debra>;

TEST(random_dequeue_queue, of_a_factor_of_one_is_a_queue) {
  drained<smr::debra> domain;
  queue q(domain, 1);
  EXPECT_EQ(q.k(), 0u);
  for (int i = 0; i != 100; ++i) q.enqueue(i);
  for (int i = 0; i != 100; ++i) ASSERT_EQ(q.dequeue(), i);
}

TEST(random_dequeue_queue, picks_any_of_the_first) {
  drained<smr::debra> domain;
  std::set<int> seen;
  for (int round = 0; round != 300; ++round) {
    queue q(domain, 4);
    for (int i = 0; i != 10; ++i) q.enqueue(i);
    seen.insert(*q.dequeue());
  }
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3}));
}

TEST(random_dequeue_queue, without_retries_takes_the_first) {
  drained<smr::debra> domain;
  queue q(domain, 80, 0);
  for (int i = 0; i != 100; ++i) q.enqueue(i);
  for (int i = 0; i != 100; ++i) ASSERT_EQ(q.dequeue(), i);
}

TEST(random_dequeue_queue, a_factor_of_nothing_is_refused) {
  drained<smr::debra> domain;
  EXPECT_THROW(queue(domain, 0), std::invalid_argument);
}

}  // namespace
}  // namespace polder::ds::collection_suite
