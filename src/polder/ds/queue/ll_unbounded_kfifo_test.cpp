// ll_unbounded_kfifo under what is asked of every collection, and with segments of several sizes.
#include <polder/ds/queue/ll_unbounded_kfifo.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::collection_suite {
namespace {

template <class T, class R, class M>
struct of_two : ll_unbounded_kfifo<T, R, M> {
  explicit of_two(typename R::domain& d) : ll_unbounded_kfifo<T, R, M>(d, 2) {}
};

POLDER_COLLECTION_SUITE(ll_unbounded_kfifo, ll_unbounded_kfifo);
POLDER_COLLECTION_SUITE(ll_unbounded_kfifo_of_two, of_two);

using queue = ll_unbounded_kfifo<std::uint64_t, smr::debra>;

TEST(ll_unbounded_kfifo, a_k_of_nothing_is_refused) {
  drained<smr::debra> domain;
  EXPECT_THROW(queue(domain, 0), std::invalid_argument);
  EXPECT_THROW(queue(domain, most_k + 1), std::invalid_argument);
}

// As published, a push of a thread alone took 17 KiB.
TEST(ll_unbounded_kfifo, a_thread_alone_pays_for_one_slot_an_element) {
  drained<smr::debra> domain;
  queue q(domain, 80);
  constexpr std::uint64_t n = 1000;
  for (std::uint64_t i = 0; i != n; ++i) q.enqueue(i);
  for (std::uint64_t i = 0; i != n; ++i) ASSERT_EQ(q.dequeue(), i);
  ASSERT_FALSE(q.dequeue());
  EXPECT_GE(domain.statistics().retired, n - 1);
  EXPECT_LE(domain.statistics().retired_bytes, n * 128);
}

// What each thread put comes out in its order, whoever takes it; segments are of three slots.
TEST(ll_unbounded_kfifo, elements_of_each_thread_come_out_in_its_order) {
  drained<smr::debra> domain;
  constexpr std::uint64_t threads = 4, each = 500;
  queue q(domain, 3);
  std::vector<std::thread> workers;
  for (std::uint64_t t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::uint64_t i = 0; i != each; ++i) q.enqueue(t * each + i);
    });
  }
  for (std::thread& w : workers) w.join();
  std::vector<std::uint64_t> next(threads, 0);
  for (std::uint64_t n = 0; n != threads * each; ++n) {
    const std::optional<std::uint64_t> e = q.dequeue();
    ASSERT_TRUE(e);
    ASSERT_EQ(*e % each, next[*e / each]++) << "thread " << *e / each;
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
