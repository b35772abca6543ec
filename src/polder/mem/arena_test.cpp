#include <polder/mem/arena.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>
#include <vector>

#include <polder/mem/fresh_arena_test.hpp>
#include <polder/mem/grain_pool.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/memory_used_test.hpp>

namespace polder::mem {
namespace {

bool writable(void* p) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const bool yes = ::write(ends[1], "x", 1) == 1 && ::read(ends[0], p, 1) == 1;
  ::close(ends[0]), ::close(ends[1]);
  if (yes) *static_cast<char*>(p) = 0;
  return yes;
}

TEST(arena, is_as_large_as_was_asked_for_and_begins_at_a_grain) {
  for (const std::size_t bytes : {4 * grain_size, 5 * grain_size, chunk_size, 10 * chunk_size + grain_size, GiB}) {
    fresh_arena a(bytes);
    EXPECT_EQ(bytes, a.it.bytes());
    EXPECT_TRUE(is_aligned(address(a.it.base()), grain_size));
    if (bytes >= 16 * chunk_size) {
      EXPECT_TRUE(is_aligned(address(a.it.base()), chunk_size));
    }
    EXPECT_EQ((bytes + chunk_size - 1) / chunk_size, a.it.main_chunks());
    EXPECT_EQ(0u, a.it.main_open());
    EXPECT_EQ(0u, a.it.extra_open());
    EXPECT_GE(a.it.base(), a.reserved.front + a.reserved.front_bytes);
    EXPECT_LE(a.it.base() + a.it.bytes(), a.reserved.start + a.reserved.bytes);
  }
  fresh_arena rounded(chunk_size + 1);
  EXPECT_EQ(chunk_size + grain_size, rounded.it.bytes());
  fresh_arena smallest(1);
  EXPECT_EQ(4 * grain_size, smallest.it.bytes());
}

TEST(arena, opens_from_below_and_no_further_than_it_says) {
  fresh_arena a(40 * chunk_size + 3 * grain_size);
  EXPECT_EQ(0u, a.it.find(address(a.it.base()) + grain_size));
  chunk_number before = 0;
  while (a.it.main_open() < a.it.main_chunks()) {
    ASSERT_TRUE(a.it.open_more(1));
    const chunk_number now = a.it.main_open();
    ASSERT_GT(now, before);
    ASSERT_LE(now, before + 16);
    const std::size_t end = std::min(now * chunk_size, a.it.bytes());
    ASSERT_TRUE(writable(a.it.base() + before * chunk_size));
    ASSERT_TRUE(writable(a.it.base() + end - 1));
    ASSERT_FALSE(writable(a.it.base() + end));
    ASSERT_EQ((end >> grain_shift) - 1, a.it.find(address(a.it.base() + end - 1)));
    if (now < a.it.main_chunks()) {
      ASSERT_EQ(0u, a.it.find(address(a.it.base() + end)));
    }
    a.it.words()[now * grains_per_chunk - 1].store(1, order::relaxed);  // the tables are there with it
    a.it.spans()[now * grains_per_chunk - 1].used = 1;
    ASSERT_EQ(0u, a.it.summary(now - 1).load(order::relaxed));
    before = now;
  }
  EXPECT_EQ(1u, a.it.chunk(0).taken.taken());                     // grain 0 ends lists
  EXPECT_EQ(~low_ones(3), a.it.chunk(before - 1).taken.taken());  // the last chunk is short
  EXPECT_FALSE(a.it.open_more(1));                                // and no room for extra ones
  EXPECT_GE(a.it.committed_bytes(), a.it.bytes() + a.it.table_bytes());
  EXPECT_LE(a.it.committed_bytes(), a.reserved.bytes);
}

TEST(arena, commits_the_tables_of_many_chunks_with_those_of_the_first) {
  constexpr std::size_t together = 64 * grains_per_chunk;
  fresh_arena a(100 * chunk_size);
  EXPECT_FALSE(writable(a.it.spans()));
  ASSERT_TRUE(a.it.open_more(1));
  ASSERT_EQ(1u, a.it.main_open());
  EXPECT_TRUE(writable(&a.it.spans()[together - 1]));
  EXPECT_FALSE(writable(&a.it.spans()[together]));
  const std::size_t summaries = address(a.it.words()) - address(&a.it.summary(0));
  EXPECT_TRUE(writable(reinterpret_cast<std::byte*>(a.it.words()) - 1));
  const std::size_t ahead = a.it.committed_bytes() - chunk_size - a.it.table_bytes() - summaries;
  EXPECT_GE(ahead, (together - grains_per_chunk) * (sizeof(span) + sizeof(std::uint32_t)));
  while (a.it.main_open() < 100) ASSERT_TRUE(a.it.open_more(1));
  EXPECT_TRUE(writable(&a.it.spans()[100 * grains_per_chunk - 1]));
  EXPECT_EQ(a.it.bytes() + a.it.table_bytes() + summaries, a.it.committed_bytes());  // none ahead of the last one
}

TEST(arena, finds_its_own_grains_and_no_foreign_address) {
  fresh_arena a(3 * chunk_size, 2);
  while (a.it.extra_open() < 2) ASSERT_TRUE(a.it.open_more(grains_per_chunk));
  EXPECT_FALSE(a.it.open_more(1));
  for (const auto& [from, to] : {std::pair{chunk_number{0}, a.it.main_open()},
                                 std::pair{a.it.main_chunks(), a.it.main_chunks() + a.it.extra_open()}})
    for (grain g = from * grains_per_chunk; g != to * grains_per_chunk; ++g) {
      ASSERT_TRUE(a.it.ready(chunk_of(g)));
      std::byte* const p = a.it.address_of(g);
      ASSERT_TRUE(is_aligned(address(p), grain_size));
      ASSERT_EQ(g, a.it.find(address(p)));
      ASSERT_EQ(g, a.it.find(address(p) + grain_size - 1));
      ASSERT_TRUE(writable(p + grain_size - 1));
    }
  int local;
  static int global;
  std::vector<char> heap(MiB);
  for (const void* p :
       {static_cast<const void*>(&local), static_cast<const void*>(&global), static_cast<const void*>(heap.data()),
        static_cast<const void*>(nullptr), static_cast<const void*>(a.reserved.start),
        static_cast<const void*>(a.it.spans()), static_cast<const void*>(a.it.base() - 1),
        static_cast<const void*>(a.it.base() + a.it.bytes()),
        static_cast<const void*>(at_address(~std::uintptr_t{0}))})
    EXPECT_EQ(0u, a.it.find(address(p))) << p;
}

TEST(arena, extra_chunks_come_one_by_one_where_the_arena_is_used_up) {
  fresh_arena a(4 * grain_size, 3);
  ASSERT_TRUE(a.it.open_more(1));
  EXPECT_EQ(1u, a.it.main_open());
  for (chunk_number n = 1; n <= 3; ++n) {
    ASSERT_TRUE(a.it.open_more(grains_per_chunk));
    ASSERT_EQ(n, a.it.extra_open());
    ASSERT_EQ(0u, a.it.chunk(a.it.main_chunks() + n - 1).taken.taken());
  }
  EXPECT_FALSE(a.it.open_more(1));
  EXPECT_EQ(3u, a.it.extra_open());
  for (chunk_number n = 0; n != 3; ++n) os::unmap(a.it.address_of((1 + n) * grains_per_chunk), chunk_size);
}

TEST(arena, extra_chunks_count_while_they_are_there) {
  fresh_arena a(4 * grain_size, 3);
  ASSERT_TRUE(a.it.open_more(1));
  const std::size_t before = a.it.committed_bytes() - a.it.table_bytes();
  for (chunk_number n = 1; n <= 3; ++n) {
    ASSERT_TRUE(a.it.open_more(grains_per_chunk));
    EXPECT_EQ(before + n * (chunk_size + grain_size), a.it.committed_bytes() - a.it.table_bytes());
  }
  for (chunk_number n = 3; n-- != 0;) {
    ASSERT_EQ(grains_per_chunk, a.it.try_take_extra(a.it.main_chunks() + n));
    ASSERT_TRUE(a.it.close_extra(a.it.main_chunks() + n));
    EXPECT_EQ(before + n * (chunk_size + grain_size), a.it.committed_bytes() - a.it.table_bytes());
  }
  ASSERT_TRUE(a.it.open_more(1));
  EXPECT_EQ(before + chunk_size + grain_size, a.it.committed_bytes() - a.it.table_bytes());
}

TEST(arena, threads_that_open_at_once_leave_no_gap_and_no_double) {
  for (int round = 0; round != 10; ++round) {
    fresh_arena a(20 * chunk_size, 4);
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t)
      threads.emplace_back([&] {
        while (a.it.open_more(1)) std::this_thread::yield();
      });
    for (auto& t : threads) t.join();
    ASSERT_EQ(20u, a.it.main_open());
    ASSERT_EQ(4u, a.it.extra_open());
    for (chunk_number c = 20; c != 24; ++c) {
      ASSERT_TRUE(a.it.ready(c));
      ASSERT_EQ(c * grains_per_chunk + 5, a.it.find(address(a.it.address_of(c * grains_per_chunk + 5))));
    }
  }
}

TEST(arena, the_ladder_begins_at_eight_times_the_memory_where_nothing_limits_it) {
  if (os::address_space_limit() != SIZE_MAX) GTEST_SKIP() << "something limits it here";
  const arena::reservation r = arena::reserve(fresh_arena::front, 0, os::page_size());
  ASSERT_NE(nullptr, r.start);
  std::size_t rung = std::clamp(std::bit_ceil(8 * os::physical_memory()), 64 * GiB, 32 * TiB);
  while (rung > r.arena_bytes) rung = align_down(rung / 4, grain_size);
  EXPECT_EQ(rung, r.arena_bytes);
  arena::abandon(r);
}

TEST(arena, more_than_32_TiB_is_not_reserved_whatever_is_wanted) {
  if (os::address_space_limit() != SIZE_MAX) GTEST_SKIP() << "something limits it here";
  for (const std::size_t wanted : {33 * TiB, SIZE_MAX / 2, SIZE_MAX}) {
    const arena::reservation r = arena::reserve(fresh_arena::front, wanted, os::page_size());
    ASSERT_NE(nullptr, r.start) << wanted;
    EXPECT_LE(r.arena_bytes, 32 * TiB);
    arena::abandon(r);
  }
}

// A fork copies each page of the system's tables, and one tells of 2 MiB: what every heap touches there lies on three.
TEST(arena, what_is_touched_first_lies_together) {
  const arena::reservation r = arena::reserve(fresh_arena::front, 0, os::page_size());
  ASSERT_NE(nullptr, r.start);
  budget b;
  arena a(r, r.front, b);
  ASSERT_TRUE(a.open_more(1));
  const auto told_by = [](const void* p) { return address(p) / (2 * MiB); };
  EXPECT_EQ(told_by(r.front), told_by(&a.chunk(0)));
  EXPECT_EQ(told_by(r.front), told_by(&a.chunk(999)));
  EXPECT_EQ(told_by(r.front), told_by(&a.summary(0)));
  EXPECT_EQ(told_by(r.front), told_by(&a.words()[0]));
  arena::abandon(r);
}

// Whatever the limit leaves, the arena that comes of it is good from end to end, and leaves room for others.
TEST(arena, the_ladder_under_a_limit) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  for (const std::size_t room : {2 * GiB, 512 * MiB, 100 * MiB, 20 * MiB, 5 * MiB})
    EXPECT_EQ(os::fine, os::forked([room] {
                const std::size_t limit = os::bytes_used(os::used::address_space) + room;
                const rlimit some{limit, limit};
                if (::setrlimit(RLIMIT_AS, &some) != 0) return 1;
                const arena::reservation r = arena::reserve(fresh_arena::front, 0, os::page_size());
                if (!r.start) return 2;
                if (r.arena_bytes > limit / 8 || r.bytes > room) return 3;
                budget b;
                arena a(r, r.front, b);
                while (a.main_open() < a.main_chunks())
                  if (!a.open_more(1)) return 4;
                *(a.base() + a.bytes() - 1) = std::byte{1};
                if (a.find(address(a.base() + a.bytes() - 1)) != (a.bytes() >> grain_shift) - 1) return 5;
                // Beyond the arena: chunk by chunk, smaller ones at the end, until the limit is reached.
                unsigned extra = 0;
                const std::size_t before = a.committed_bytes() - a.table_bytes();
                while (a.open_more(1)) ++extra;
                std::size_t there = 0;
                if (os::bytes_used(os::used::address_space) + 3 * grain_size < limit) return 6;
                for (chunk_number c = a.main_chunks(); c != a.main_chunks() + a.extra_open(); ++c) {
                  if (!a.ready(c)) continue;
                  const std::uint64_t open = ~a.chunk(c).taken.taken();
                  if (open == 0) return 7;
                  const grain last = c * grains_per_chunk + floor_log2(open);
                  *(a.address_of(last) + grain_size - 1) = std::byte{1};
                  if (a.find(address(a.address_of(last))) != last) return 8;
                  there += (a.chunk(c).grains.load(order::relaxed) + 1) * grain_size;
                  --extra;
                }
                if (a.committed_bytes() - a.table_bytes() != before + there) return 10;
                return extra == 0 ? 0 : 9;
              }))
        << room;
}

TEST(arena, where_the_map_has_no_room_beside_a_chunk_a_smaller_one_is_opened) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              fresh_arena a(4 * grain_size, 3);
              if (!a.it.open_more(1)) return 1;
              const std::size_t limit = os::bytes_used(os::used::address_space) + chunk_size + grain_size;
              const rlimit some{limit, limit};
              if (::setrlimit(RLIMIT_AS, &some) != 0) return 2;
              if (!a.it.open_more(1)) return 3;
              return a.it.chunk(a.it.main_chunks()).grains.load(order::relaxed) == grains_per_chunk / 4 ? 0 : 4;
            }));
}

// A limit beyond what the machine could ever give is tables for no more than that.
TEST(arena, a_limit_far_away_costs_no_more_addresses_than_none) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  for (const unsigned log : {50u, 62u})
    EXPECT_EQ(os::fine, os::forked([log] {
                const rlimit far_away{rlim_t{1} << log, rlim_t{1} << log};
                if (::setrlimit(RLIMIT_DATA, &far_away) != 0) return 1;
                const arena::reservation r = arena::reserve(fresh_arena::front, GiB, os::page_size());
                if (!r.start) return 2;
                // A grain's share of the tables, for twice what the heap could have of this machine; more than 32 TiB it never has.
                const std::size_t most =
                    std::min(std::max(std::bit_ceil(8 * os::physical_memory()), 64 * GiB), 32 * TiB);
                return r.bytes <= 2 * GiB + 2 * (most / grain_size) * 70 ? 0 : 3;
              }))
        << log;
}

TEST(arena, where_not_even_the_smallest_rung_is_free_there_is_none) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              const rlimit none{MiB, MiB};
              if (::setrlimit(RLIMIT_AS, &none) != 0) return 1;
              return arena::reserve(fresh_arena::front, 0, os::page_size()).start == nullptr ? 0 : 2;
            }));
}

// Afterwards the kernel's next mapping lies at no multiple of `page`, if it lies beside the last as ever.
void leave_multiples_of(std::size_t page) {
  constexpr std::size_t room = 65 * MiB;
  void* const next = os::reserve(room);
  const bool is_multiple = is_aligned(address(next), page);
  os::unmap(next, room);
  if (is_multiple) static_cast<void>(os::reserve(room + os::page_size()));
}

// A machine with larger pages. The kernel of this one would forgive a commit, an advice or a reservation that is not
// made of whole ones; a filter does not.
TEST(arena, with_larger_pages_everything_is_made_of_whole_ones) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why << ", whose own calls the filter would see";
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  for (const std::size_t bytes : {4 * grain_size, 2 * MiB, 40 * chunk_size})
    EXPECT_EQ(os::fine, os::forked([bytes] {
                constexpr std::size_t page = 64 * KiB;
                leave_multiples_of(page);
                if (!os::die_of_bits(SYS_mprotect, page - 1) || !os::die_of_bits(SYS_madvise, page - 1)) return 1;
                fresh_arena a(bytes, 2, page);
                if (!a.reserved.start || !is_aligned(address(a.reserved.start), page)) return 2;
                if (!is_aligned(a.reserved.bytes, page) || !is_aligned(a.reserved.front_bytes, page)) return 3;
                if (!is_aligned(address(a.reserved.front), page)) return 3;
                grain_pool pool(a.it);
                trail lately;
                chunk_number from = 0;
                std::vector<grain> held;
                for (;;) {
                  const grain_pool::run r = pool.take(1, lately);
                  if (r.first == 0) break;
                  *a.it.address_of(r.first) = std::byte{1};
                  held.push_back(r.first);
                }
                if (held.size() != bytes / grain_size - 1 + 2 * grains_per_chunk) return 4;
                for (std::size_t i = 0; i < held.size(); i += 2)
                  if (!pool.give(held[i], 1)) return 5;
                pool.purge({.what = grain_pool::which::all}, from);
                return pool.count().dirty == 0 ? 0 : 6;
              }))
        << bytes;
}

}  // namespace
}  // namespace polder::mem
