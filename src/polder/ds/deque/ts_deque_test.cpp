// ts_deque with the counters that all share, under what is asked of every collection, and its two sides.
#include <polder/ds/deque/ts_deque.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <stdexcept>
#include <thread>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(ts_deque_atomic, ts_deque_atomic);
POLDER_COLLECTION_SUITE(ts_deque_cas, ts_deque_cas);

// A get reads on from nodes that are unlinked: what protects single pointers is refused.
static_assert(suits<smr::debra>(ts_deque_atomic<long, smr::debra>::info));
static_assert(!suits<smr::hazard>(ts_deque_atomic<long, smr::hazard>::info));

// One thread's puts and gets at both sides, and now and then another's, while nobody else is at work.
template <class Deque, class R>
void as_a_deque(unsigned operations) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  eager::drained<R> domain;
  Deque d(domain);
  std::deque<long> known;
  const auto step = [&](long n) {
    switch (random() % 4) {
      case 0: d.put_left(n), known.push_front(n); break;
      case 1: d.put_right(n), known.push_back(n); break;
      case 2: {
        const std::optional<long> got = d.get_left();
        ASSERT_EQ(got.has_value(), !known.empty());
        if (got) {
          ASSERT_EQ(*got, known.front());
          known.pop_front();
        }
        break;
      }
      default: {
        const std::optional<long> got = d.get_right();
        ASSERT_EQ(got.has_value(), !known.empty());
        if (got) {
          ASSERT_EQ(*got, known.back());
          known.pop_back();
        }
      }
    }
  };
  for (unsigned i = 0; i != operations && !::testing::Test::HasFatalFailure(); ++i) {
    if (i % 50 != 0) {
      step(long(i));
    } else {
      // A thread of a number of its own, while this one has its.
      std::thread([&] {
        for (int k = 0; k != 5; ++k) step(long(operations + i) + k);
      }).join();
    }
  }
}

TEST(ts_deque, is_a_deque_where_nothing_overlaps) {
  as_a_deque<ts_deque_atomic<long, eager::region>, eager::region>(3000);
  as_a_deque<ts_deque_cas<long, eager::region>, eager::region>(3000);
  as_a_deque<ts_deque_interval<long, smr::debra>, smr::debra>(3000);
  as_a_deque<ts_deque_stutter<long, eager::region>, eager::region>(3000);
}

// Both sides at once: what one puts at the left and another gets at the right comes in order.
TEST(ts_deque, used_across_it_is_a_queue) {
  eager::drained<smr::debra> domain;
  ts_deque_hardware<long, smr::debra> d(domain);
  constexpr long each = 5000;
  std::thread putter([&] {
    for (long n = 1; n <= each; ++n) d.put_left(n);
  });
  for (long last = 0; last != each && !HasFailure();) {
    if (const std::optional<long> n = d.get_right()) {
      EXPECT_EQ(*n, last + 1);
      last = *n;
    } else {
      std::this_thread::yield();
    }
  }
  putter.join();
}

TEST(ts_deque, a_delay_is_the_clocks) {
  using deque = ts_deque_interval<int, smr::debra>;
  eager::drained<smr::debra> domain;
  EXPECT_THROW(deque(domain, interval_clock::longest + 1), std::invalid_argument);
  deque d(domain, 500);
  EXPECT_TRUE(d.put_left(1) && d.put_right(2));
  EXPECT_EQ(d.get_right(), 2);
}

}  // namespace
}  // namespace polder::ds::collection_suite
