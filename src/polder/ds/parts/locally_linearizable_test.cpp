// Locally linearizable queues and stacks under what is asked of every collection, and what comes out of each thread's
// elements.
#include <polder/ds/parts/locally_linearizable.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/queue/ll_dq.hpp>
#include <polder/ds/stack/ll_ds.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ll_dq, ll_dq);
POLDER_COLLECTION_SUITE(ll_dq_nonlinempty, ll_dq_nonlinempty);
POLDER_COLLECTION_SUITE(ll_dyn_dq, ll_dyn_dq);
POLDER_COLLECTION_SUITE(ll_dyn_dq_nonlinempty, ll_dyn_dq_nonlinempty);
POLDER_COLLECTION_SUITE(ll_ds, ll_ds);
POLDER_COLLECTION_SUITE(ll_ds_nonlinempty, ll_ds_nonlinempty);
POLDER_COLLECTION_SUITE(ll_dyn_ds, ll_dyn_ds);
POLDER_COLLECTION_SUITE(ll_dyn_ds_nonlinempty, ll_dyn_ds_nonlinempty);

// Which of n elements of one thread comes out as the ith.
struct queues {
  using fixed = ll_dq<long, smr::debra>;
  using dynamic = ll_dyn_dq<long, smr::debra>;
  static long ith(long i, long) { return i; }
};
struct stacks {
  using fixed = ll_ds<long, smr::debra>;
  using dynamic = ll_dyn_ds<long, smr::debra>;
  static long ith(long i, long n) { return n - 1 - i; }
};
template <class Kind>
class local_order : public ::testing::Test {};
using kinds = ::testing::Types<queues, stacks>;
TYPED_TEST_SUITE(local_order, kinds);

// Elements are thread * 1000 + which. Of each thread's they come out in their order, whoever gets them.
template <class Kind, class S>
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
    const long ith = out[*n / 1000]++;
    ASSERT_EQ(*n % 1000, Kind::ith(ith, each));
  }
  ASSERT_FALSE(s.get().has_value());
}

TYPED_TEST(local_order, each_threads_elements_come_in_order) {
  drained<smr::debra> d;
  typename TypeParam::fixed s(d, 3);  // fewer than threads
  keeps_the_order_of_each<TypeParam>(s);
}
TYPED_TEST(local_order, dynamic_each_threads_elements_come_in_order) {
  drained<smr::debra> d;
  typename TypeParam::dynamic s(d);
  keeps_the_order_of_each<TypeParam>(s);
}

TYPED_TEST(local_order, alone_it_keeps_its_order) {
  drained<smr::debra> d;
  typename TypeParam::fixed s(d);
  typename TypeParam::dynamic dynamic(d);
  for (long i = 0; i != 100; ++i) s.put(i), dynamic.put(i);
  for (long i = 0; i != 100; ++i) {
    const long n = TypeParam::ith(i, 100);
    ASSERT_EQ(s.get(), n);
    ASSERT_EQ(dynamic.get(), n);
  }
}

TYPED_TEST(local_order, who_left_and_is_empty_is_passed_over_until_its_number_comes_again) {
  drained<smr::debra> d;
  typename TypeParam::dynamic s(d);
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

TYPED_TEST(local_order, more_threads_at_once_than_a_row_has) {
  drained<smr::debra> d;
  typename TypeParam::dynamic s(d);
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
