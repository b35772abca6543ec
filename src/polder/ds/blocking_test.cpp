// blocking over a list, a ring and a ring whose emptiness may err: nobody sleeps while there is something, and all end.
#include <polder/ds/blocking.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <type_traits>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/queue/scq_ring.hpp>
#include <polder/ds/queue/vyukov_ring.hpp>

namespace polder::ds::collection_suite {
namespace {

using namespace std::chrono_literals;

template <class T, class R, class M>
using blocking_ms_queue = blocking<ms_queue<T, R, M>>;
POLDER_COLLECTION_SUITE(blocking_ms_queue, blocking_ms_queue);

#if POLDER_SANITIZED
constexpr long scale = 1;
#else
constexpr long scale = 5;
#endif

using ring = blocking<vyukov_ring<long, smr::leaky>>;
using lock_free_ring = blocking<scq_ring<long, smr::leaky>>;

template <class Ring>
class blocking_ring : public ::testing::Test {};
using rings = ::testing::Types<ring, lock_free_ring>;
TYPED_TEST_SUITE(blocking_ring, rings);

TEST(blocking, gets_what_is_there_without_a_wait) {
  ring r(8);
  ASSERT_TRUE(r.put(1));
  EXPECT_EQ(*r.wait_get(), 1);
  ASSERT_TRUE(r.wait_put(2));
  EXPECT_EQ(*r.get_for(0s), 2);
  EXPECT_FALSE(r.get().has_value());
}

TEST(blocking, a_time_that_has_come_ends_the_wait) {
  ring r(8);
  EXPECT_FALSE(r.get_for(1ms).has_value());
  EXPECT_FALSE(r.get_for(-1ms).has_value());
  EXPECT_FALSE(r.get_until(std::chrono::steady_clock::now()).has_value());
  EXPECT_FALSE(r.closed());
  std::thread later([&] { r.put(7); });
  EXPECT_EQ(*r.get_for(std::chrono::hours::max()), 7);
  later.join();
}

// Whose move waits: a put of one stands still inside.
struct held_back {
  static inline atomic<bool> moves{false}, goes_on{false};
  long n;
  explicit held_back(long i) : n(i) {}
  held_back(held_back&& other) noexcept : n(other.n) {
    moves.store(true, order::relaxed);
    while (!goes_on.load(order::relaxed)) std::this_thread::yield();
  }
};

TEST(blocking, a_time_that_has_come_ends_the_wait_for_puts_under_way_too) {
  blocking<vyukov_ring<held_back, smr::leaky>> r(8);
  std::thread putter([&] { EXPECT_TRUE(r.put(held_back(3))); });
  while (!held_back::moves.load(order::relaxed)) std::this_thread::yield();
  r.close();
  EXPECT_FALSE(r.get_for(1ms).has_value());
  held_back::goes_on.store(true, order::relaxed);
  const std::optional<held_back> late = r.wait_get();
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->n, 3);
  EXPECT_FALSE(r.get_for(1ms).has_value());
  putter.join();
}

// Ends that nanoseconds cannot count.
TEST(blocking, the_longest_wait_gets_what_is_put_later) {
  using seconds_of_the_clock = std::chrono::time_point<std::chrono::steady_clock, std::chrono::seconds>;
  ring r(8);
  const auto got_later = [&](auto&& get) {
    std::thread later([&] {
      std::this_thread::sleep_for(20ms);  // so that it is waited for, most likely
      r.put(7);
    });
    EXPECT_EQ(get(), 7);
    later.join();
    while (r.get()) {
    }
  };
  got_later([&] { return r.get_until(seconds_of_the_clock::max()); });
  got_later([&] { return r.get_until(std::chrono::steady_clock::time_point::max()); });
  got_later([&] { return r.get_for(std::chrono::days::max()); });
  got_later([&] { return r.get_for(9e9s - 1s); });  // which they can
  EXPECT_FALSE(r.get_until(seconds_of_the_clock::min()).has_value());
  EXPECT_FALSE(r.get_for(std::chrono::days::min()).has_value());
}

TEST(blocking, closed_it_refuses_and_gives_what_is_left) {
  ring r(2);
  ASSERT_TRUE(r.put(1));
  ASSERT_TRUE(r.put(2));
  r.close();
  r.close();
  EXPECT_TRUE(r.closed());
  EXPECT_FALSE(r.put(3));
  EXPECT_FALSE(r.wait_put(3));
  EXPECT_EQ(*r.wait_get(), 1);
  EXPECT_EQ(*r.get_for(1h), 2);
  EXPECT_FALSE(r.wait_get().has_value());
  EXPECT_FALSE(r.get_for(1h).has_value());
}

TEST(blocking, what_does_not_get_in_is_as_it_was) {
  blocking<vyukov_ring<std::unique_ptr<long>, smr::leaky>> r(2);
  auto value = std::make_unique<long>(1);
  r.close();
  ASSERT_FALSE(r.wait_put(std::move(value)));
  EXPECT_EQ(*value, 1);
}

TYPED_TEST(blocking_ring, a_close_ends_every_wait) {
  for (int round = 0; round != 10; ++round) {
    TypeParam empty(8), full(2);
    while (full.put(0)) {
    }
    std::vector<std::thread> threads;
    atomic<int> ended{0};
    for (int t = 0; t != 4; ++t) {
      threads.emplace_back([&] {
        if (!empty.wait_get().has_value()) ended.fetch_add(1, order::relaxed);
      });
      threads.emplace_back([&] {
        if (!full.wait_put(1)) ended.fetch_add(1, order::relaxed);
      });
    }
    if (round % 2 == 0) std::this_thread::sleep_for(1ms);  // some are asleep, or not: both are asked
    empty.close();
    full.close();
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(ended.load(order::relaxed), 8);
  }
}

// Two threads hand one element to and fro: a wake that is lost ends it all.
TYPED_TEST(blocking_ring, no_wake_is_lost_between_two) {
  const long rounds = std::is_same_v<TypeParam, ring> ? 10'000 * scale : 2'000;
  TypeParam there(2), back(2);
  std::thread other([&] {
    for (long i = 0; i != rounds; ++i) back.wait_put(*there.wait_get() + 1);
  });
  long n = 0;
  for (long i = 0; i != rounds; ++i) {
    ASSERT_TRUE(there.wait_put(long(n)));
    n = *back.wait_get();
  }
  other.join();
  EXPECT_EQ(n, rounds);
}

// Many wait on both sides of little room, some of them for a short time only; what was put before the close is got.
TYPED_TEST(blocking_ring, no_wake_is_lost_among_many) {
  const long each = 500 * scale;
  constexpr long putters = 3, getters = 3;
  TypeParam r(2);
  std::vector<std::thread> put, get;
  atomic<long> sum{0}, count{0};
  for (long p = 0; p != putters; ++p) {
    put.emplace_back([&, p] {
      for (long i = 0; i != each; ++i) must(r.wait_put(p * each + i));
    });
  }
  for (long g = 0; g != getters; ++g) {
    get.emplace_back([&, g] {
      for (;;) {
        const std::optional<long> n = g == 0 ? r.get_for(50us) : r.wait_get();
        if (n) sum.fetch_add(*n, order::relaxed), count.fetch_add(1, order::relaxed);
        else if (r.closed()) return;
      }
    });
  }
  for (std::thread& t : put) t.join();
  r.close();
  for (std::thread& t : get) t.join();
  for (; const std::optional<long> n = r.get();) FAIL() << "was not got";
  EXPECT_EQ(count.load(order::relaxed), putters * each);
  EXPECT_EQ(sum.load(order::relaxed), putters * each * (putters * each - 1) / 2);
}

TEST(blocking, what_was_put_while_it_was_closed_is_got) {
  for (int round = 0; round != 40; ++round) {
    eager::drained<smr::debra> d;
    blocking<ms_queue<long, smr::debra>> q(d);
    atomic<long> in{0}, out{0};
    std::vector<std::thread> threads;
    for (int t = 0; t != 2; ++t) {
      threads.emplace_back([&] {
        while (q.put(1)) in.fetch_add(1, order::relaxed);
      });
      threads.emplace_back([&] {
        while (q.wait_get()) out.fetch_add(1, order::relaxed);
      });
    }
    q.close();
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(in.load(order::relaxed), out.load(order::relaxed));
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
