// double_word: both halves at once or not at all.
#include <polder/sync/double_word.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <polder/sync/atomic.hpp>

namespace polder {
namespace {

TEST(double_word, swaps_only_when_both_halves_are_as_expected) {
  double_word w({1, 2});
  for (const double_value wrong : {double_value{1, 3}, double_value{0, 2}, double_value{2, 1}, double_value{}}) {
    double_value expected = wrong;
    EXPECT_FALSE(w.cas(expected, {7, 8}, order::relaxed, order::relaxed));
    EXPECT_EQ(expected, (double_value{1, 2}));
  }
  double_value expected{1, 2};
  EXPECT_TRUE(w.cas(expected, {~0ull, 1ull << 63}, order::acq_rel, order::acquire));  // sync: double-word-test
  EXPECT_EQ(w.first(order::relaxed), ~0ull);
  EXPECT_EQ(w.second(order::relaxed), 1ull << 63);
  EXPECT_EQ(w.load(order::relaxed), (double_value{~0ull, 1ull << 63}));
}

TEST(double_word, is_zero_at_first) { EXPECT_EQ(double_word().load(order::relaxed), double_value{}); }

TEST(double_word, its_first_half_changes_without_the_second) {
  double_word w({5, 7});
  EXPECT_EQ(w.add_first(~0ull, order::relaxed), 5u);
  EXPECT_EQ(w.load(order::relaxed), (double_value{4, 7}));
  w.or_first(3, order::relaxed);
  EXPECT_EQ(w.load(order::relaxed), (double_value{7, 7}));
  std::uint64_t expected = 4;
  EXPECT_FALSE(w.cas_first(expected, 9, order::relaxed, order::relaxed));
  EXPECT_EQ(expected, 7u);
  EXPECT_TRUE(w.cas_first(expected, 9, order::relaxed, order::relaxed));
  EXPECT_EQ(w.load(order::relaxed), (double_value{9, 7}));
}

// Each adds to the first half by itself in two ways, and to both: nothing is lost.
TEST(double_word, changes_of_a_half_and_of_the_whole_exclude_each_other) {
  constexpr std::uint64_t threads = 4, each = 150'000;
  double_word w;
  atomic<std::uint64_t> ready{0};
  std::vector<std::thread> workers;
  for (std::uint64_t t = 0; t != threads; ++t) {
    workers.emplace_back([&] {
      ready.fetch_add(1, order::relaxed);
      while (ready.load(order::relaxed) != threads) std::this_thread::yield();
      for (std::uint64_t n = 0; n != each; ++n) {
        w.add_first(1, order::relaxed);
        std::uint64_t half = w.first(order::relaxed);
        while (!w.cas_first(half, half + 1, order::relaxed, order::relaxed)) {
        }
        double_value now{w.first(order::relaxed), w.second(order::relaxed)};
        while (!w.cas(now, {now.first + 1, now.second + 1}, order::relaxed, order::relaxed)) {
        }
      }
    });
  }
  for (std::thread& th : workers) th.join();
  EXPECT_EQ(w.load(order::relaxed), (double_value{3 * threads * each, threads * each}));
}

// Each value names a place that its thread wrote before, and its second half is the first one's square.
TEST(double_word, threads_see_whole_values_and_what_came_before) {
  constexpr std::uint64_t threads = 4, each = 5'000;
  double_word w;
  std::vector<std::uint64_t> written(threads * each + 1);
  std::vector<std::thread> workers;
  for (std::uint64_t t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::uint64_t n = t * each + 1; n != (t + 1) * each + 1; ++n) {
        written[n] = n;
        double_value now{w.first(order::relaxed), w.second(order::relaxed)};
        while (!w.cas(now, {n, n * n}, order::acq_rel, order::relaxed)) {  // sync: double-word-test
          ASSERT_EQ(now.second, now.first * now.first);
        }
        ASSERT_EQ(now.second, now.first * now.first);
        ASSERT_EQ(written[now.first], now.first);
        const std::uint64_t first = w.first(order::acquire);  // sync: double-word-test
        ASSERT_EQ(written[first], first);
        const double_value both = w.load(order::acquire);  // sync: double-word-test
        ASSERT_EQ(both.second, both.first * both.first);
      }
    });
  }
  for (std::thread& th : workers) th.join();
}

}  // namespace
}  // namespace polder
