// per_producer_queue under what is asked of every collection, each putter's order, and in bulk.
#include <polder/ds/queue/per_producer_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/producers_test.hpp>
#include <polder/ds/putting_destructor_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(per_producer_queue, per_producer_queue);

TEST(per_producer_queue, keeps_the_order_of_each_putter_across_segments) {
  eager::drained<smr::debra> d;
  per_producer_queue<long, smr::debra> q(d);
  EXPECT_TRUE(in_order_of_putters(q, 2, 2, 10'000));
  EXPECT_TRUE(in_order_of_putters(q, 3, 1, 3'000));
  EXPECT_FALSE(q.dequeue().has_value());
}

template <class T, class R>
using queue_of = per_producer_queue<T, R>;
TEST(per_producer_queue, loses_nothing_that_destructors_put) { loses_nothing_that_destructors_put<queue_of>(); }

TEST(per_producer_queue, in_bulk_across_segments) {
  eager::drained<smr::debra> d;
  per_producer_queue<std::unique_ptr<long>, smr::debra> q(d);
  std::vector<std::unique_ptr<long>> in, out(700);
  long put = 0, got = 0;
  for (const std::size_t n : {1, 700, 3, 512, 511, 1500}) {
    in.clear();
    for (std::size_t i = 0; i != n; ++i) in.push_back(std::make_unique<long>(put++));
    ASSERT_EQ(q.put_bulk(in.begin(), n), n);
  }
  while (const std::size_t n = q.get_bulk(out.begin(), out.size())) {
    for (std::size_t i = 0; i != n; ++i) ASSERT_EQ(*out[i], got++);
  }
  EXPECT_EQ(got, put);
  EXPECT_EQ(q.put_bulk(in.begin(), 0), 0u);
}

TEST(per_producer_queue, bulk_among_threads_loses_nothing) {
  eager::drained<smr::debra> d;
  per_producer_queue<long, smr::debra> q(d);
  constexpr long putters = 2, each = 6'000;
  atomic<long> left{putters * each}, sum{0};
  std::vector<std::thread> threads;
  for (long p = 0; p != putters; ++p) {
    threads.emplace_back([&, p] {
      std::vector<long> some;
      for (long i = 0; i != each;) {
        some.clear();
        for (long n = 0; n != 100 && i != each; ++n) some.push_back(p * each + i++);
        q.put_bulk(some.begin(), some.size());
      }
    });
    threads.emplace_back([&] {
      std::vector<long> some(30);
      while (left.load(order::relaxed) != 0) {
        const std::size_t n = q.get_bulk(some.begin(), some.size());
        if (n == 0) std::this_thread::yield();
        for (std::size_t i = 0; i != n; ++i) sum.fetch_add(some[i], order::relaxed);
        left.fetch_sub(long(n), order::relaxed);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum.load(order::relaxed), putters * each * (putters * each - 1) / 2);
}

TEST(per_producer_queue, a_putter_puts_where_its_thread_does) {
  eager::drained<smr::debra> d;
  per_producer_queue<std::unique_ptr<long>, smr::debra> q(d);
  auto putter = q.mine_to_put();
  std::vector<std::unique_ptr<long>> some;
  long put = 0;
  for (int round = 0; round != 400; ++round) {
    putter.put(std::make_unique<long>(put++));
    q.put(std::make_unique<long>(put++));
    some.clear();
    for (int i = 0; i != 3; ++i) some.push_back(std::make_unique<long>(put++));
    ASSERT_EQ(putter.put_bulk(some.begin(), some.size()), some.size());
  }
  for (long got = 0; got != put; ++got) ASSERT_EQ(**q.get(), got);
  ASSERT_FALSE(q.get().has_value());
}

TEST(per_producer_queue, threads_that_are_taken_off_inside_lose_nothing) {
  eager::drained<smr::debra> d;
  per_producer_queue<hesitant, smr::debra> q(d);
  EXPECT_TRUE(in_order_of_putters(q, 2, 2, 2'000));
  EXPECT_FALSE(q.dequeue().has_value());
}

}  // namespace
}  // namespace polder::ds::collection_suite
