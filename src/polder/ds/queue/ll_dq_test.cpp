// ll_dq under what is asked of every collection, and what each thread sees of another's elements.
#include <polder/ds/queue/ll_dq.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ll_dq, ll_dq);
POLDER_COLLECTION_SUITE(ll_dq_nonlinempty, ll_dq_nonlinempty);
POLDER_COLLECTION_SUITE(ll_dyn_dq, ll_dyn_dq);
POLDER_COLLECTION_SUITE(ll_dyn_dq_nonlinempty, ll_dyn_dq_nonlinempty);

// Elements are thread * 1000 + which. Of each thread's they come out in a queue's order, whoever gets them.
template <class S>
void keeps_the_order_of_each(S& s) {
  constexpr long threads = 9, each = 50;
  std::vector<std::thread> putters;
  for (long t = 0; t != threads; ++t) {
    putters.emplace_back([&s, t] {
      for (long i = 0; i != each; ++i) s.put(t * 1000 + i);
    });
    if (t % 3 == 0) putters.back().join(), putters.pop_back();  // its number is for another
  }
  for (std::thread& t : putters) t.join();
  std::vector<long> out(threads, 0);
  for (long i = 0; i != threads * each; ++i) {
    const std::optional<long> n = s.get();
    ASSERT_TRUE(n.has_value());
    const long nth = out[*n / 1000]++;
    ASSERT_EQ(*n % 1000, nth);
  }
  ASSERT_FALSE(s.get().has_value());
}

TEST(ll_dq, each_threads_elements_come_in_order) {
  drained<smr::debra> d;
  ll_dq<long, smr::debra> s(d, 3);  // fewer than threads
  keeps_the_order_of_each(s);
}
TEST(ll_dq, dynamic_each_threads_elements_come_in_order) {
  drained<smr::debra> d;
  ll_dyn_dq<long, smr::debra> s(d);
  keeps_the_order_of_each(s);
}

TEST(ll_dq, alone_it_is_a_queue) {
  drained<smr::debra> d;
  ll_dq<long, smr::debra> s(d);
  ll_dyn_dq<long, smr::debra> dynamic(d);
  for (long i = 0; i != 100; ++i) s.put(i), dynamic.put(i);
  for (long i = 0; i != 100; ++i) {
    const long n = i;
    ASSERT_EQ(s.get(), n);
    ASSERT_EQ(dynamic.get(), n);
  }
}

TEST(ll_dq, who_left_and_is_empty_is_passed_over_until_its_number_comes_again) {
  drained<smr::debra> d;
  ll_dyn_dq<long, smr::debra> s(d);
  EXPECT_EQ(s.listed(), 0u);
  s.put(1);
  EXPECT_EQ(s.listed(), 1u);
  for (int round = 0; round != 3; ++round) {
    std::thread([&] { s.put(2); }).join();
    EXPECT_EQ(s.listed(), 2u);
    EXPECT_EQ(s.get(), 1);  // its own first
    EXPECT_EQ(s.get(), 2);
    EXPECT_EQ(s.listed(), 2u);  // nobody has seen it empty
    EXPECT_FALSE(s.get());
    EXPECT_EQ(s.listed(), 1u);
    s.put(1);
  }
}

TEST(ll_dq, more_threads_at_once_than_a_row_has) {
  drained<smr::debra> d;
  ll_dyn_dq<long, smr::debra> s(d);
  constexpr unsigned threads = 150;
  atomic<unsigned> ready{0};
  std::vector<std::thread> putters;
  for (unsigned t = 0; t != threads; ++t) {
    putters.emplace_back([&, t] {
      s.put(long(t));
      ready.fetch_add(1, order::relaxed);
      while (ready.load(order::relaxed) != threads) std::this_thread::yield();
    });
  }
  for (std::thread& t : putters) t.join();
  EXPECT_EQ(s.listed(), threads);
  long sum = 0;
  for (unsigned i = 0; i != threads; ++i) sum += s.get().value();
  EXPECT_EQ(sum, long(threads) * (threads - 1) / 2);
  EXPECT_FALSE(s.get());
  EXPECT_EQ(s.listed(), 0u);
}

}  // namespace
}  // namespace polder::ds::collection_suite
