#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::heap {
namespace {

struct hardened_heap : ::testing::Test {
  explicit hardened_heap(std::uint32_t guard_rate = 0) : s(asked(guard_rate)) {}

  static options asked(std::uint32_t guard_rate) {
    options o = served::usual;
    o.hardened = true;
    o.guard_rate = guard_rate;
    return o;
  }

  char* block(std::size_t n) { return static_cast<char*>(s.allocate(n)); }
  std::vector<char*> blocks(std::size_t n, unsigned count) {
    std::vector<char*> all(count);
    for (char*& p : all) p = block(n);
    return all;
  }
  // How often some blocks of n bytes, of a span that is there, bring the heap above what it holds.
  int crossings(std::size_t n) {
    static int crossed;
    crossed = 0;
    s.heap.set_target(s.now().committed + 1);
    s.heap.on_target([](std::size_t) { ++crossed; });
    blocks(n, 10);
    s.heap.on_target(nullptr);
    return crossed;
  }

  served s;
};

TEST_F(hardened_heap, serves_every_size_and_takes_it_back) {
  std::vector<std::pair<char*, std::size_t>> held;
  for (std::size_t n = 0; n < 3 * MiB; n = n * 9 / 8 + 1) {
    char* const p = block(n);
    ASSERT_NE(nullptr, p);
    ASSERT_GE(s.heap.usable_size(p), n);
    std::memset(p, 7, n);
    held.emplace_back(p, n);
  }
  for (const auto& [p, n] : held) {
    for (std::size_t i = 0; i < n; i += 4000) ASSERT_EQ(7, p[i]);
    s.free(p);
  }
  s.heap.trim(0);
  EXPECT_EQ(0u, s.now().allocated);
}

TEST_F(hardened_heap, calloc_is_zero_from_fresh_and_from_used_memory) {
  for (int round = 0; round != 3; ++round) {
    std::vector<void*> held;
    for (std::size_t n = 1; n < 3 * MiB; n = n * 5 / 4 + 1) {
      auto* const p = static_cast<unsigned char*>(s.heap.allocate_zeroed(n));
      ASSERT_NE(nullptr, p);
      ASSERT_EQ(std::ptrdiff_t(n), std::count(p, p + n, 0)) << n << " bytes, round " << round;
      held.push_back(std::memset(p, 7, n));
    }
    for (void* p : held) s.free(p);
  }
}

TEST_F(hardened_heap, wipes_large_blocks_itself_where_the_system_does_not_take_them) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([this] {
              if (!os::answer(SYS_madvise, EINVAL)) return 1;
              char* const p = block(MiB);
              std::memset(p, 7, MiB);
              s.free(p);
              char* const q = block(MiB);
              return std::count(q, q + MiB, 0) == std::ptrdiff_t(MiB) ? 0 : 2;
            }));
}

TEST_F(hardened_heap, counts_what_is_in_quarantine_as_freed) {
  const auto all = blocks(48, 100);
  EXPECT_EQ(4800u, s.now().allocated);
  for (char* p : all) s.free(p);
  EXPECT_EQ(0u, s.now().allocated);
}

TEST_F(hardened_heap, hands_neighbours_out_in_no_order) {
  const auto all = blocks(64, 64);
  unsigned next = 0;
  for (std::size_t i = 1; i < all.size(); ++i) next += all[i] == all[i - 1] + 64 || all[i] + 64 == all[i - 1];
  EXPECT_LT(next, 16u) << "of 63 pairs about one is to be of neighbours";
  std::set<char*> distinct(all.begin(), all.end());
  EXPECT_EQ(all.size(), distinct.size());
}

TEST_F(hardened_heap, does_not_give_a_freed_block_to_the_next_who_asks) {
  unsigned again = 0;
  for (unsigned i = 0; i < 100; ++i) {
    char* const p = block(48);
    s.free(p);
    again += block(48) == p;
  }
  EXPECT_EQ(0u, again);
}

TEST_F(hardened_heap, leaves_nothing_in_a_freed_block) {
  for (const std::size_t n : {16, 100, 5000, 30'000}) {
    char* const p = block(n);
    std::memset(p, 'x', n);
    s.free(p);
    EXPECT_EQ(std::ptrdiff_t(n - 16), std::count(p + 16, p + n, 0)) << n << ": all but key and link";
  }
}

TEST_F(hardened_heap, gives_zeroes) {
  for (unsigned round = 0; round < 3; ++round) {
    auto all = blocks(200, 3000);
    for (char* p : all) {
      EXPECT_EQ(208, std::count(p, p + 208, 0));
      std::memset(p, 'x', 208);
    }
    for (char* p : all) s.free(p);
    char* const large = block(300'000);
    EXPECT_EQ(300'000, std::count(large, large + 300'000, 0));
    std::memset(large, 'x', 300'000);
    s.free(large);
    s.heap.trim(0);
  }
}

TEST_F(hardened_heap, wipes_what_a_large_block_gives_up_when_it_shrinks) {
  char* p = block(1 * MiB);
  std::memset(p, 'x', 1 * MiB);
  p = static_cast<char*>(s.heap.reallocate(p, 600 * KiB));
  const auto again = blocks(200 * KiB, 8);
  for (const char* q : again) EXPECT_EQ(0, std::count(q, q + 200 * KiB, 'x'));
}

TEST_F(hardened_heap, frees_of_other_threads_come_home) {
  const auto all = blocks(100, 5000);
  s.in_a_thread([&] {
    for (char* p : all) s.free(p);
    s.heap.trim(0);
  });
  s.heap.trim(0);
  EXPECT_EQ(0u, s.now().allocated);
}

TEST_F(hardened_heap, a_thread_that_ends_leaves_nothing_in_quarantine) {
  s.in_a_thread([&] {
    for (char* p : blocks(100, 500)) s.free(p);
    s.validate();  // with what it confines
  });
  s.heap.trim(0);
  EXPECT_EQ(0u, s.now().allocated);
}

TEST_F(hardened_heap, takes_nothing_of_the_system_for_guards_that_are_off) {
  block(64);
  EXPECT_EQ(0, crossings(64));
}

TEST_F(hardened_heap, a_handler_that_interrupts_it_may_allocate) {
  char* const p = block(64);
  static served* in = &s;
  in = &s;
  test_host::interruption = [] { in->free(in->allocate(64)); };
  s.free(p);
  EXPECT_NE(nullptr, block(64));
}

using hardened_heap_death = hardened_heap;

TEST_F(hardened_heap_death, notices_a_second_free_while_the_block_is_in_quarantine_and_after) {
  char* const p = block(64);
  s.free(p);
  EXPECT_DEATH(s.free(p), "polder: double free of 0x");
  EXPECT_DEATH(
      {
        for (char* q : blocks(64, 5000)) s.free(q);
        s.free(p);
      },
      "polder: double free of 0x");
}

TEST_F(hardened_heap_death, notices_a_write_after_the_free_when_the_block_leaves_the_quarantine) {
  for (const unsigned at : {0u, 8u, 16u, 63u}) {
    EXPECT_DEATH(
        {
          char* const p = block(64);
          s.free(p);
          p[at] ^= 1;
          s.heap.trim(0);
        },
        "polder: corrupted free block 0x")
        << at;
  }
}

TEST_F(hardened_heap_death, notices_a_write_after_the_free_when_the_block_is_handed_out) {
  EXPECT_DEATH(
      {
        char* const keeps_the_span = block(64);
        char* const p = block(64);
        s.free(p);
        s.heap.trim(0);
        p[63] = 1;
        for (char* q : blocks(64, 2000)) ASSERT_NE(keeps_the_span, q);
      },
      "polder: corrupted free block 0x");
}

TEST_F(hardened_heap_death, notices_that_another_thread_frees_twice) {
  char* const p = block(64);
  EXPECT_DEATH(s.in_a_thread([&] {
    s.free(p);
    s.free(p);
  }),
               "polder: double free of 0x");
}

// Of the heap's operations; the blocks themselves: mem/guarded_blocks_test.cpp.
struct guarding_heap : hardened_heap {
  guarding_heap() : hardened_heap(1) {}

  // One that is guarded: its usable size is what was asked for, which no class has.
  char* guarded(std::size_t n) {
    for (unsigned i = 0; i < 100; ++i) {
      char* const p = block(n);
      if (s.heap.usable_size(p) == n) return p;
    }
    return nullptr;
  }
};

TEST_F(guarding_heap, takes_guarded_blocks_for_its_own) {
  char* const p = guarded(77);
  ASSERT_NE(nullptr, p);
  EXPECT_TRUE(s.heap.owns(p));
  EXPECT_GT(s.now().allocated, 77u);
  EXPECT_EQ(p, s.heap.reallocate(p, 77));
  std::memset(p, 'x', 77);
  auto* const grown = static_cast<char*>(s.heap.reallocate(p, 5000));
  EXPECT_EQ(77, std::count(grown, grown + 77, 'x'));
  s.free(grown);
  s.heap.deallocate_sized(guarded(55), 55);
  s.heap.deallocate_aligned_sized(guarded(55), 16, 55);
  s.heap.deallocate_aligned_sized(guarded(0), 16, 0);
  s.heap.deallocate_aligned_sized(guarded(64), 16, 55);  // so that is how 55 bytes are had
  s.in_a_thread([&] { s.free(guarded(33)); });
}

// Room beside what was asked for would be part of the size by which a guarded block is known.
TEST_F(guarding_heap, knows_what_realloc_was_asked_for) {
  for (std::size_t n = 64; n < 100'000; n += n / 9) {
    void* const p = s.heap.reallocate(s.allocate(n - n / 10), n);
    s.heap.deallocate_sized(p, n);
  }
}

TEST_F(guarding_heap, takes_nothing_of_the_system_for_what_is_longer_than_a_page) {
  if (page_of_tests() != 4 * KiB) GTEST_SKIP() << "pages as long as blocks of spans";
  block(5000);
  EXPECT_EQ(0, crossings(5000));
}

TEST_F(guarding_heap, comes_back_to_nothing) {
  for (char* p : blocks(50, 2000)) s.free(p);
  s.heap.trim(0);
  EXPECT_EQ(0u, s.now().allocated);
}

using guarding_heap_death = guarding_heap;

TEST_F(guarding_heap_death, notices_what_cannot_be_freed) {
  char* const p = guarded(77);
  EXPECT_DEATH(s.free(p + 16), "polder: invalid free of 0x.*guarded");
  EXPECT_DEATH(s.free(p + 1), "polder: misaligned free of 0x.*guarded");
  EXPECT_DEATH(s.heap.deallocate_sized(p, 76), "polder: size mismatch in the free of 0x");
  EXPECT_DEATH(s.heap.deallocate_aligned_sized(p, 1, 60), "polder: size mismatch in the free of 0x");
  s.free(p);
  EXPECT_DEATH(s.free(p), "polder: double free of 0x.*guarded");
  EXPECT_DEATH(s.heap.usable_size(p), "polder: double free of 0x.*guarded");
}

}  // namespace
}  // namespace polder::heap
