// bounded_kfifo under what is asked of every collection; what fits in, and in what order it may come out.
#include <polder/ds/queue/bounded_kfifo.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::collection_suite {
namespace {

template <class T, class R, class M>
struct of_two : bounded_kfifo<T, R, M> {
  of_two() : bounded_kfifo<T, R, M>(2, 256) {}
};

POLDER_COLLECTION_SUITE(bounded_kfifo, bounded_kfifo);
POLDER_COLLECTION_SUITE(bounded_kfifo_of_two, of_two);

using queue = bounded_kfifo<std::uint64_t, smr::leaky>;

TEST(bounded_kfifo, is_full_when_every_segment_is_in_use) {
  for (const std::size_t k : {1, 3, 80}) {
    queue q(k, 4);
    for (std::size_t i = 0; i != q.capacity(); ++i) ASSERT_TRUE(q.enqueue(~i)) << i;
    ASSERT_FALSE(q.enqueue(7));
    for (int round = 0; round != 10; ++round) {
      for (std::size_t i = 0; i != k; ++i) ASSERT_TRUE(q.dequeue());
      for (std::size_t i = 0; i != k; ++i) ASSERT_TRUE(q.enqueue(i)) << "a segment is out";
      ASSERT_FALSE(q.enqueue(7));
    }
    std::size_t left = 0;
    while (q.dequeue()) ++left;
    ASSERT_EQ(left, q.capacity());
    // The last segment may be used in part.
    while (q.enqueue(1)) ++left;
    ASSERT_GT(left, q.capacity() + k * 3);
  }
}

TEST(bounded_kfifo, of_one_is_a_queue) {
  queue q(1, 2);
  for (std::uint64_t i = 0; i != 100; ++i) {
    ASSERT_TRUE(q.enqueue(i));
    ASSERT_TRUE(q.enqueue(i + 1000));
    ASSERT_FALSE(q.enqueue(5));
    ASSERT_EQ(q.dequeue(), i);
    ASSERT_EQ(q.dequeue(), i + 1000);
    ASSERT_FALSE(q.dequeue());
  }
}

TEST(bounded_kfifo, parameters_that_make_no_queue_are_refused) {
  EXPECT_THROW(queue(0), std::invalid_argument);
  EXPECT_THROW(queue(most_k + 1), std::invalid_argument);
  EXPECT_THROW(queue(1, 0), std::invalid_argument);
  EXPECT_THROW(queue(1, 1), std::invalid_argument);
  EXPECT_THROW(queue(80, std::size_t{1} << 60), std::invalid_argument);
}

}  // namespace
}  // namespace polder::ds::collection_suite
