// segment_queue and unbounded_kfifo under what is asked of every collection, and with segments of several sizes.
#include <polder/ds/queue/segment_list.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/queue/segment_queue.hpp>
#include <polder/ds/queue/unbounded_kfifo.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::collection_suite {
namespace {

template <class T, class R, class M>
struct segments_of_two : segment_queue<T, R, M> {
  explicit segments_of_two(typename R::domain& d) : segment_queue<T, R, M>(d, 2) {}
};
template <class T, class R, class M>
struct kfifo_of_two : unbounded_kfifo<T, R, M> {
  explicit kfifo_of_two(typename R::domain& d) : unbounded_kfifo<T, R, M>(d, 2) {}
};

POLDER_COLLECTION_SUITE(segment_queue, segment_queue);
POLDER_COLLECTION_SUITE(segment_queue_of_two, segments_of_two);
POLDER_COLLECTION_SUITE(unbounded_kfifo, unbounded_kfifo);
POLDER_COLLECTION_SUITE(unbounded_kfifo_of_two, kfifo_of_two);

template <class Queue>
class segment_lists : public ::testing::Test {};
using lists =
    ::testing::Types<segment_queue<std::uint64_t, smr::debra>, unbounded_kfifo<std::uint64_t, smr::debra>>;
TYPED_TEST_SUITE(segment_lists, lists);

TYPED_TEST(segment_lists, a_size_of_nothing_is_refused) {
  drained<smr::debra> domain;
  EXPECT_THROW(TypeParam(domain, 0), std::invalid_argument);
  EXPECT_THROW(TypeParam(domain, most_k + 1), std::invalid_argument);
}

TYPED_TEST(segment_lists, of_one_slot_is_a_queue) {
  drained<smr::debra> domain;
  TypeParam q(domain, 1);
  EXPECT_EQ(q.k(), 0u);
  for (std::uint64_t i = 0; i != 100; ++i) q.enqueue(i);
  for (std::uint64_t i = 0; i != 100; ++i) ASSERT_EQ(q.dequeue(), i);
  ASSERT_FALSE(q.dequeue());
}

TYPED_TEST(segment_lists, any_of_a_segment_comes_out) {
  drained<smr::debra> domain;
  std::set<std::uint64_t> seen;
  for (int round = 0; round != 300; ++round) {
    TypeParam q(domain, 4);
    for (std::uint64_t i = 0; i != 8; ++i) q.enqueue(i);
    seen.insert(*q.dequeue());
  }
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3}));
}

TYPED_TEST(segment_lists, a_pair_of_put_and_get_costs_a_slot) {
  drained<smr::debra> domain;
  TypeParam q(domain, 80);
  for (std::uint64_t i = 0; i != 800; ++i) {
    q.enqueue(i);
    ASSERT_EQ(q.dequeue(), i);
  }
  EXPECT_LE(domain.statistics().retired, 10u);
}

}  // namespace
}  // namespace polder::ds::collection_suite
