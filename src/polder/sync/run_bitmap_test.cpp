#include <polder/sync/run_bitmap.hpp>

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace polder {
namespace {

unsigned naive_first_fit(std::uint64_t taken, unsigned n) {
  for (unsigned at = 0; at + n <= 64; ++at) {
    bool fits = true;
    for (unsigned i = at; i != at + n; ++i) fits = fits && (taken >> i & 1) == 0;
    if (fits) return at;
  }
  return run_bitmap::none;
}

unsigned naive_longest(std::uint64_t taken) {
  unsigned longest = 0, length = 0;
  for (unsigned i = 0; i != 64; ++i) {
    length = (taken >> i & 1) != 0 ? 0 : length + 1;
    longest = std::max(longest, length);
  }
  return longest;
}

void agree(std::uint64_t taken) {
  for (unsigned n = 1; n <= 64; ++n) {
    ASSERT_EQ(naive_first_fit(taken, n), run_bitmap::first_fit(taken, n))
        << std::hex << taken << " n " << std::dec << n;
  }
  ASSERT_EQ(naive_longest(taken), run_bitmap::longest_open(taken)) << std::hex << taken;
}

// Every pattern of twelve places, at the bottom, in the middle and at the top of a word, the others taken or open.
TEST(run_bitmap_search, agrees_with_the_naive_one_on_every_small_word) {
  constexpr unsigned width = 12;
  for (std::uint64_t pattern = 0; pattern != 1u << width; ++pattern) {
    for (unsigned at : {0u, 27u, 64u - width}) {
      agree(pattern << at | ~ones(at, width));
      if (pattern % 16 == 5) agree(pattern << at);
    }
  }
}

TEST(run_bitmap_search, agrees_with_the_naive_one_on_random_words) {
  std::mt19937_64 random(20040609);
  for (int i = 0; i != 2'000; ++i) {
    const std::uint64_t a = random(), b = random(), c = random();
    for (std::uint64_t word : {a, a & b, a | b, a & b & c, a | b | c}) agree(word);
  }
}

TEST(run_bitmap_search, the_edges) {
  agree(0);
  agree(~std::uint64_t{0});
  for (unsigned i = 0; i != 64; ++i) {
    agree(ones(i, 1));
    agree(~ones(i, 1));
    agree(low_ones(i));
    agree(~low_ones(i));
  }
}

TEST(run_bitmap, all_zero_is_all_open) {
  constinit static run_bitmap fresh;
  EXPECT_EQ(8u, sizeof fresh);
  EXPECT_EQ(0u, fresh.taken());
}

TEST(run_bitmap, takes_the_lowest_fit) {
  run_bitmap bits;
  EXPECT_EQ(0u, bits.try_take(3));
  EXPECT_EQ(3u, bits.try_take(2));
  EXPECT_EQ(5u, bits.try_take(4));
  EXPECT_TRUE(bits.give(3, 2));
  EXPECT_EQ(9u, bits.try_take(3));
  EXPECT_EQ(3u, bits.try_take(1));
  EXPECT_EQ(4u, bits.try_take(1));
  EXPECT_EQ(low_ones(12), bits.taken());
}

TEST(run_bitmap, a_whole_word_and_then_nothing) {
  run_bitmap bits;
  EXPECT_EQ(0u, bits.try_take(64));
  EXPECT_EQ(run_bitmap::none, bits.try_take(1));
  EXPECT_TRUE(bits.give(0, 64));
  EXPECT_EQ(0u, bits.taken());
}

TEST(run_bitmap, neighbours_coalesce) {
  run_bitmap bits;
  for (unsigned i = 0; i != 64; ++i) EXPECT_EQ(i, bits.try_take(1));
  EXPECT_TRUE(bits.give(20, 1));
  EXPECT_TRUE(bits.give(22, 1));
  EXPECT_EQ(run_bitmap::none, bits.try_take(2));
  EXPECT_TRUE(bits.give(21, 1));
  EXPECT_EQ(20u, bits.try_take(3));
}

TEST(run_bitmap, take_at_takes_all_or_nothing) {
  run_bitmap bits;
  EXPECT_TRUE(bits.try_take_at(60, 4));
  EXPECT_FALSE(bits.try_take_at(57, 4));
  EXPECT_EQ(ones(60, 4), bits.taken());
  EXPECT_TRUE(bits.try_take_at(57, 3));
}

TEST(run_bitmap, giving_what_was_not_taken_is_noticed) {
  run_bitmap bits;
  EXPECT_FALSE(bits.give(0, 1));
  EXPECT_EQ(0u, bits.try_take(4));
  EXPECT_FALSE(bits.give(2, 4));
  EXPECT_TRUE(bits.give(0, 2));
  EXPECT_FALSE(bits.give(0, 2));
}

TEST(run_bitmap, threads_never_hold_the_same_place) {
  run_bitmap bits;
  atomic<std::uint32_t> holders[64];
  atomic<std::uint32_t> collisions, refused;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != 4; ++t) {
    threads.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      for (int round = 0; round != 20'000; ++round) {
        const unsigned n = 1 + unsigned(random() % 24);
        const unsigned at = bits.try_take(n);
        if (at == run_bitmap::none) continue;
        for (unsigned i = at; i != at + n; ++i) {
          if (holders[i].fetch_add(1, order::relaxed) != 0) collisions.fetch_add(1, order::relaxed);
        }
        for (unsigned i = at; i != at + n; ++i) holders[i].fetch_sub(1, order::relaxed);
        if (!bits.give(at, n)) refused.fetch_add(1, order::relaxed);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(0u, collisions.load(order::relaxed));
  EXPECT_EQ(0u, refused.load(order::relaxed));
  EXPECT_EQ(0u, bits.taken());
}

}  // namespace
}  // namespace polder
