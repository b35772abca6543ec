// lock_based_queue and lock_based_stack under what is asked of every collection, and how they wait.
#include <polder/ds/parts/lock_based.hpp>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/queue/lock_based_queue.hpp>
#include <polder/ds/stack/lock_based_stack.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(lock_based_queue, lock_based_queue);
POLDER_COLLECTION_SUITE(lock_based_stack, lock_based_stack);

using namespace std::chrono_literals;
template <class WaitedFor>
class lock_based_waits : public ::testing::Test {};
using waited_for = ::testing::Types<lock_based_queue<std::unique_ptr<long>, smr::leaky>,
                                    lock_based_stack<std::unique_ptr<long>, smr::leaky>>;
TYPED_TEST_SUITE(lock_based_waits, waited_for);

TYPED_TEST(lock_based_waits, who_waits_gets_what_is_put_later) {
  constexpr long each = 200, waiters = 3;
  TypeParam c;
  atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (long t = 0; t != waiters; ++t) {
    threads.emplace_back([&] {
      for (long i = 0; i != each; ++i) sum.fetch_add(*c.wait_get(), order::relaxed);
    });
  }
  for (long i = 1; i <= waiters * each; ++i) {
    ASSERT_TRUE(c.put(std::make_unique<long>(i)));
    if (i % 50 == 0) std::this_thread::yield();
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum.load(order::relaxed), waiters * each * (waiters * each + 1) / 2);
  EXPECT_FALSE(c.get().has_value());
}

TYPED_TEST(lock_based_waits, a_wait_has_an_end) {
  TypeParam c;
  EXPECT_FALSE(c.get_for(0s).has_value());
  EXPECT_FALSE(c.get_for(-1s).has_value());
  EXPECT_FALSE(c.get_for(2ms).has_value());
  ASSERT_TRUE(c.put(std::make_unique<long>(1)));
  EXPECT_TRUE(c.get_for(0s).has_value());
  std::thread late([&] { EXPECT_TRUE(c.get_for(std::chrono::hours::max()).has_value()); });
  ASSERT_TRUE(c.put(std::make_unique<long>(2)));
  late.join();
  EXPECT_FALSE(c.get().has_value());
}

// Ends that the clock cannot count, in units in which they cannot be compared with those that it can.
TYPED_TEST(lock_based_waits, the_longest_wait_gets_what_is_put_later) {
  TypeParam c;
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);  // so that it is waited for, most likely
    c.put(std::make_unique<long>(1));
  });
  EXPECT_TRUE(c.get_for(std::chrono::days::max()).has_value());
  later.join();
  EXPECT_FALSE(c.get_for(std::chrono::days::min()).has_value());
}

}  // namespace
}  // namespace polder::ds::collection_suite
