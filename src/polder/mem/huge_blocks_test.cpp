#include <polder/mem/huge_blocks.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <polder/mem/fresh_arena_test.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/clock_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/lost_move_test.hpp>
#include <polder/os/memory_used_test.hpp>

namespace polder::mem {
namespace {

using block_info = huge_blocks::block_info;

struct huge : fresh_arena {
  explicit huge(std::size_t page = os::page_size(), std::size_t while_unwanted = 0)
      : fresh_arena(4 * grain_size, 0, page),
        blocks(it.map(), it.page(), directory(), committed, false, huge_blocks::most::some, while_unwanted) {}
  huge_blocks blocks;
  ~huge() { blocks.purge(true); }

  bool free(const void* p) {
    const std::uint32_t number = blocks.find(p);
    return number != 0 && blocks.give(number, p);
  }
  std::size_t usable(const void* p) const { return blocks.usable(blocks.find(p)); }
};

bool mapped(const void* p) {
  unsigned char in;
  return ::mincore(at_address(align_down(address(p), os::page_size())), 1, &in) == 0;
}

TEST(huge_blocks, a_block_is_as_long_as_asked_zero_and_found_by_its_beginning_alone) {
  huge h;
  for (const std::size_t n : {2 * MiB, 3 * MiB + 1, 100 * MiB, GiB, 10 * TiB / 1024}) {
    const block_info b = h.blocks.take(n, 16);
    ASSERT_NE(nullptr, b.p);
    EXPECT_TRUE(b.zero);
    ASSERT_NE(0u, h.blocks.find(b.p));
    EXPECT_EQ(0u, h.blocks.find(b.p + 16));
    EXPECT_EQ(0u, h.blocks.find(b.p + n - 1));
    EXPECT_EQ(0u, h.blocks.find(b.p - 1));
    EXPECT_GE(h.usable(b.p), n);
    EXPECT_LT(h.usable(b.p), n + os::page_size());
    EXPECT_EQ(std::byte{0}, b.p[n - 1]);
    b.p[0] = b.p[n - 1] = std::byte{1};
    EXPECT_EQ(h.usable(b.p), h.blocks.live_bytes());
    EXPECT_TRUE(h.free(b.p));
    EXPECT_EQ(0u, h.blocks.find(b.p));
    EXPECT_EQ(0u, h.blocks.live_bytes());
    h.blocks.purge(true);
  }
}

TEST(huge_blocks, short_ones_are_told_apart_too) {
  huge h;
  std::vector<std::byte*> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(h.blocks.take(i % 2 ? 100 : 20 * KiB, 16).p);
    ASSERT_NE(nullptr, all.back());
  }
  std::byte* const long_one = h.blocks.take(MiB, 16).p;
  all.push_back(h.blocks.resize(h.blocks.find(long_one), long_one, 100));
  all.push_back(h.blocks.take(100, 16).p);
  for (std::byte* p : all) EXPECT_NE(0u, h.blocks.find(p));
  for (std::byte* p : all) EXPECT_TRUE(h.free(p));
}

TEST(huge_blocks, a_size_suits_that_was_asked_or_is_held_however_long_the_mapping) {
  huge h;
  constexpr std::size_t longer = huge_blocks::shortest + huge_blocks::shortest / 4;
  const block_info first = h.blocks.take(longer, 16);
  ASSERT_TRUE(h.free(first.p));
  const block_info cached = h.blocks.take(100, 16);
  const std::uint32_t number = h.blocks.find(cached.p);
  ASSERT_EQ(longer, h.blocks.usable(number));
  EXPECT_FALSE(h.blocks.suits(number, 99));
  EXPECT_TRUE(h.blocks.suits(number, 100));
  EXPECT_TRUE(h.blocks.suits(number, longer));
  EXPECT_FALSE(h.blocks.suits(number, longer + 1));
  h.blocks.shrink(number, 50);
  EXPECT_TRUE(h.blocks.suits(number, 50));
  EXPECT_TRUE(h.free(cached.p));
}

TEST(huge_blocks, what_the_system_refuses_is_null_and_costs_nothing) {
  huge h;
  EXPECT_EQ(nullptr, h.blocks.take(PTRDIFF_MAX, 16).p);
  EXPECT_EQ(nullptr, h.blocks.take(SIZE_MAX, 16).p);
  EXPECT_EQ(nullptr, h.blocks.take(SIZE_MAX / 4, 16).p);
  EXPECT_EQ(nullptr, h.blocks.take(2 * MiB, std::size_t{1} << 62).p);
  EXPECT_EQ(0u, h.blocks.live_bytes());
  const block_info b = h.blocks.take(2 * MiB, 16);
  EXPECT_NE(nullptr, b.p);
  EXPECT_TRUE(h.free(b.p));
}

// Of a mapping's length an entry of the cache has 31 bits, in pages.
TEST(huge_blocks, what_is_too_long_for_the_cache_goes_back_at_once) {
  huge h;
  for (const std::size_t pages : {std::size_t{1} << 31, (std::size_t{1} << 31) + (256 * MiB) / os::page_size()}) {
    const block_info b = h.blocks.take(pages * os::page_size(), 16);
    const block_info stays = h.blocks.take(4 * pages * os::page_size(), 16);  // beside it the cache is large enough
    if (b.p == nullptr || stays.p == nullptr) GTEST_SKIP() << "not so much address space here";
    EXPECT_TRUE(h.free(b.p));
    EXPECT_EQ(0u, h.blocks.cached_bytes());
    EXPECT_FALSE(mapped(b.p));
    EXPECT_TRUE(h.free(stays.p));
    EXPECT_EQ(0u, h.committed.used());
  }
}

TEST(huge_blocks, what_no_address_space_holds_does_not_count_for_a_moment) {
  static std::size_t told;
  huge h;
  told = 0;
  h.committed.set_target(GiB);
  h.committed.on_target([](std::size_t used) { told = used; });
  for (const std::size_t n : {std::size_t{PTRDIFF_MAX} / 2, std::size_t{1} << 60, std::size_t{1} << 57}) {
    EXPECT_EQ(nullptr, h.blocks.take(n, 16).p);
    EXPECT_EQ(nullptr, h.blocks.take_to_grow(n).p);
    EXPECT_EQ(0u, told) << n;
  }
  const block_info b = h.blocks.take(2 * MiB, 16);
  EXPECT_EQ(nullptr, h.blocks.resize(h.blocks.find(b.p), b.p, PTRDIFF_MAX / 2));
  EXPECT_EQ(0u, told);
  EXPECT_TRUE(h.free(b.p));
  const std::size_t peak = h.committed.peak();
  for (std::size_t n = std::size_t{1} << 40; n <= std::size_t{1} << 46; n *= 2) {  // and what the system may refuse
    if (const block_info had = h.blocks.take(n, 16); had.p != nullptr) {
      EXPECT_TRUE(h.free(had.p));
      GTEST_SKIP() << "no such length is refused here";
    }
    h.committed.had();
    EXPECT_EQ(0u, told) << n;
    EXPECT_EQ(peak, h.committed.peak()) << n;
  }
}

TEST(huge_blocks, any_alignment) {
  huge h;
  for (int round = 0; round != 2; ++round)
    for (std::size_t alignment = 16; alignment <= GiB; alignment *= 2)
      for (const std::size_t n : {std::size_t{1}, 2 * MiB, 5 * MiB + 5}) {
        const block_info b = h.blocks.take(n, alignment);
        ASSERT_NE(nullptr, b.p);
        ASSERT_TRUE(is_aligned(address(b.p), alignment));
        ASSERT_GE(h.usable(b.p), n);
        b.p[0] = b.p[h.usable(b.p) - 1] = std::byte{1};
        ASSERT_TRUE(h.free(b.p));
      }
}

TEST(huge_blocks, what_lies_around_an_aligned_block_is_not_had) {
  huge h;
  h.committed.set_limit(h.committed.used() + 16 * MiB);
  for (const std::size_t n : {std::size_t{64}, 3 * MiB + 5}) {
    const block_info b = h.blocks.take(n, GiB);
    ASSERT_NE(nullptr, b.p);
    EXPECT_TRUE(b.zero && is_aligned(address(b.p), GiB));
    EXPECT_LE(h.usable(b.p), std::max(n, huge_blocks::shortest) + h.it.page());
    EXPECT_FALSE(mapped(b.p - os::page_size()) || mapped(b.p + h.usable(b.p)));
    b.p[0] = b.p[n - 1] = std::byte{1};
    EXPECT_TRUE(h.free(b.p));
  }
}

TEST(huge_blocks, an_aligned_block_that_the_system_refuses_costs_nothing) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              huge h;
              if (!h.free(h.blocks.take(64, GiB).p)) return 1;  // what is needed for any is there
              h.blocks.purge(true);
              const std::size_t held = h.committed.used(), mapped = os::bytes_used(os::used::address_space);
              if (!os::answer(SYS_mprotect, ENOMEM)) return 2;
              if (h.blocks.take(64, GiB).p != nullptr) return 3;
              if (h.committed.used() != held) return 4;
              return os::bytes_used(os::used::address_space) < mapped + GiB ? 0 : 5;
            }));
}

TEST(huge_blocks, with_larger_pages_a_block_that_is_aligned_to_one_is_all_there) {
  huge h(64 * KiB);
  for (int i = 0; i != 8; ++i) {
    static_cast<void>(os::map(os::page_size()));  // so that the next mapping begins anywhere
    const block_info b = h.blocks.take(3 * MiB, 64 * KiB);
    ASSERT_NE(nullptr, b.p);
    EXPECT_TRUE(is_aligned(address(b.p), 64 * KiB));
    EXPECT_GE(h.usable(b.p), 3 * MiB);
    EXPECT_TRUE(mapped(b.p + 3 * MiB - 1));
  }
}

TEST(huge_blocks, a_second_free_is_refused) {
  huge h;
  const block_info b = h.blocks.take(2 * MiB, 16);
  const std::uint32_t number = h.blocks.find(b.p);
  EXPECT_TRUE(h.blocks.give(number, b.p));
  EXPECT_FALSE(h.blocks.give(number, b.p));
  EXPECT_EQ(0u, h.blocks.find(b.p));
  const block_info again = h.blocks.take(2 * MiB, 16);  // from the cache: the same place
  EXPECT_EQ(b.p, again.p);
  EXPECT_TRUE(h.free(again.p));
}

TEST(huge_blocks, of_many_threads_that_free_it_one_succeeds) {
  huge h;
  for (int round = 0; round != 200; ++round) {
    const block_info b = h.blocks.take(2 * MiB, 16);
    const std::uint32_t number = h.blocks.find(b.p);
    atomic<int> freed, ready;
    const auto free = [&] {
      ready.fetch_add(1, order::relaxed);
      while (ready.load(order::relaxed) != 2) std::this_thread::yield();
      if (h.blocks.give(number, b.p)) freed.fetch_add(1, order::relaxed);
    };
    std::thread other(free);
    free();
    other.join();
    ASSERT_EQ(1, freed.load(order::relaxed));
    ASSERT_EQ(0u, h.blocks.live_bytes());
  }
}

TEST(huge_blocks, the_cache_serves_what_is_not_much_shorter_and_says_that_it_is_not_zero) {
  huge h;
  const block_info b = h.blocks.take(8 * MiB, 16);
  *b.p = std::byte{1};
  ASSERT_TRUE(h.free(b.p));
  EXPECT_EQ(8 * MiB, h.blocks.cached_bytes());
  const block_info small = h.blocks.take(2 * MiB, 16);
  EXPECT_NE(b.p, small.p);
  EXPECT_TRUE(small.zero);
  const block_info larger = h.blocks.take(8 * MiB + 1, 16);
  EXPECT_NE(b.p, larger.p);
  const block_info near = h.blocks.take(7 * MiB, 16);
  EXPECT_EQ(b.p, near.p);
  EXPECT_FALSE(near.zero);
  EXPECT_GE(h.usable(near.p), 7 * MiB);
  EXPECT_EQ(0u, h.blocks.cached_bytes());
  for (std::byte* p : {small.p, larger.p, near.p}) EXPECT_TRUE(h.free(p));
}

TEST(huge_blocks, the_cache_is_bounded_and_what_does_not_fit_is_unmapped) {
  huge h;
  std::byte* const large = h.blocks.take(huge_blocks::cache_bytes + 1, 16).p;
  ASSERT_TRUE(h.free(large));
  EXPECT_FALSE(mapped(large + 16 * MiB));
  std::vector<std::byte*> blocks;
  for (int i = 0; i != 20; ++i) blocks.push_back(h.blocks.take(2 * MiB, 16).p);
  for (std::byte* p : blocks) ASSERT_TRUE(h.free(p));
  EXPECT_EQ(huge_blocks::cache_bytes, h.blocks.cached_bytes());
}

struct patient : huge {
  patient() : huge(os::page_size(), 128 * MiB) {}
};

TEST(patient_huge_blocks, stay_until_a_longer_one_would_make_a_peak) {
  patient h;
  std::byte* const p = h.blocks.take(100 * MiB, 16).p;
  ASSERT_TRUE(h.free(p));
  const block_info again = h.blocks.take(100 * MiB, 16);
  EXPECT_EQ(p, again.p);
  EXPECT_FALSE(again.zero);
  ASSERT_TRUE(h.free(p));
  EXPECT_EQ(100 * MiB, h.blocks.cached_bytes());
  const std::size_t peak = h.committed.peak();
  std::byte* const longer = h.blocks.take(140 * MiB, 16).p;
  EXPECT_EQ(peak + 40 * MiB, h.committed.peak());
  EXPECT_EQ(0u, h.blocks.cached_bytes());
  ASSERT_TRUE(h.free(longer));
  EXPECT_FALSE(mapped(longer + 16 * MiB)) << "it is too long";
}

TEST(patient_huge_blocks, give_way_where_others_made_a_peak_alone) {
  patient h;
  std::byte* const a = h.blocks.take(100 * MiB, 16).p;
  std::byte* const b = h.blocks.take(60 * MiB, 16).p;
  ASSERT_TRUE(h.free(a) && h.free(b));
  ASSERT_EQ(100 * MiB, h.blocks.cached_bytes());
  ASSERT_TRUE(h.committed.take(50 * MiB));
  h.blocks.give_way();
  EXPECT_EQ(100 * MiB, h.blocks.cached_bytes());
  ASSERT_TRUE(h.committed.take(50 * MiB));
  h.blocks.give_way();
  EXPECT_EQ(0u, h.blocks.cached_bytes());
  EXPECT_FALSE(mapped(a));
  h.committed.give(100 * MiB);
}

TEST(patient_huge_blocks, serve_shorter_ones_with_their_front) {
  patient h;
  std::byte* const p = h.blocks.take(100 * MiB, 16).p;
  ASSERT_TRUE(h.free(p));
  EXPECT_EQ(p, h.blocks.take(50 * MiB, 16).p);
  std::byte* const behind = h.blocks.take(40 * MiB, 16).p;
  EXPECT_EQ(p + 50 * MiB, behind);
  ASSERT_TRUE(h.free(behind) && h.free(p));
  EXPECT_EQ(p, h.blocks.take(100 * MiB, 16).p);
  EXPECT_EQ(0u, h.blocks.cached_bytes());
  ASSERT_TRUE(h.free(p));
}

TEST(patient_huge_blocks, go_with_the_second_step_of_decay) {
  patient h;
  std::byte* const p = h.blocks.take(100 * MiB, 16).p;
  ASSERT_TRUE(h.free(p));
  EXPECT_EQ(0u, h.blocks.purge(false));
  EXPECT_EQ(100 * MiB, h.blocks.purge(false));
  EXPECT_FALSE(mapped(p));
}

TEST(huge_blocks, beside_a_large_heap_the_cache_is_as_large_and_beside_a_very_large_one_a_quarter_of_it) {
  for (const std::size_t beside : {48 * MiB, 400 * MiB}) {
    huge h;
    std::byte* const stays = h.blocks.take(beside, 16).p;
    std::vector<std::byte*> blocks;
    for (int i = 0; i != 32; ++i) blocks.push_back(h.blocks.take(8 * MiB, 16).p);
    std::size_t most = 0;
    for (std::byte* p : blocks) {
      ASSERT_TRUE(h.free(p));
      most = std::max(most, h.blocks.cached_bytes());
    }
    if (beside == 48 * MiB) {  // the blocks not yet freed lie beside, too
      EXPECT_TRUE(most >= 64 * MiB && most <= 144 * MiB) << most / MiB;
    } else {
      EXPECT_TRUE(most >= 160 * MiB && most <= 192 * MiB) << most / MiB;
    }
    EXPECT_TRUE(h.free(stays));
  }
}

TEST(huge_blocks, purge_gives_back_what_was_there_at_the_step_before) {
  huge h;
  std::byte* const a = h.blocks.take(2 * MiB, 16).p;
  std::byte* const b = h.blocks.take(3 * MiB, 16).p;
  ASSERT_TRUE(h.free(a));
  EXPECT_EQ(0u, h.blocks.purge(false));
  ASSERT_TRUE(h.free(b));
  EXPECT_EQ(2 * MiB, h.blocks.purge(false));
  EXPECT_FALSE(mapped(a));
  EXPECT_TRUE(mapped(b));
  EXPECT_EQ(3 * MiB, h.blocks.purge(true));
  EXPECT_FALSE(mapped(b));
  EXPECT_EQ(0u, h.blocks.purge(true));
  EXPECT_EQ(0u, h.blocks.cached_bytes());
}

TEST(huge_blocks, resize_keeps_the_contents_wherever_it_goes) {
  huge h;
  std::mt19937 random(7);
  std::byte* p = h.blocks.take(3 * MiB, 16).p;
  std::size_t n = 3 * MiB;
  const auto at = [](std::size_t i) { return std::byte(i / os::page_size() * 7 + 1); };
  for (std::size_t i = 0; i < n; i += os::page_size()) p[i] = at(i);
  for (int step = 0; step != 60; ++step) {
    const std::size_t wanted = 2 * MiB + random() % (30 * MiB);
    void* const wall = os::map(os::page_size());  // something may stand in the way, or not
    std::byte* const q = h.blocks.resize(h.blocks.find(p), p, wanted);
    ASSERT_NE(nullptr, q);
    if (q != p) {
      ASSERT_EQ(0u, h.blocks.find(p));
    }
    ASSERT_NE(0u, h.blocks.find(q));
    ASSERT_GE(h.usable(q), wanted);
    ASSERT_TRUE(h.blocks.suits(h.blocks.find(q), wanted) && !h.blocks.suits(h.blocks.find(q), wanted - 1));
    ASSERT_EQ(h.usable(q), h.blocks.live_bytes());
    ASSERT_EQ(h.committed.used(), h.blocks.live_bytes() + h.blocks.cached_bytes());
    for (std::size_t i = 0; i < std::min(n, wanted); i += os::page_size()) ASSERT_EQ(at(i), q[i]) << i;
    for (std::size_t i = align_up(std::min(n, wanted), os::page_size()); i < wanted; i += os::page_size()) {
      q[i] = at(i);
    }
    p = q;
    n = wanted;
    if (step % 2 == 0) os::unmap(wall, os::page_size());
  }
  EXPECT_TRUE(h.free(p));
}

TEST(huge_blocks, who_looked_at_the_clock_before_another_took_the_step_takes_none) {
  constexpr std::uint32_t milliseconds = 100;
  const os::own_time begins(1000);
  huge h;
  static huge* heap;
  heap = &h;
  ASSERT_TRUE(h.free(h.blocks.take(4 * MiB, 16).p));
  h.blocks.age(milliseconds);
  os::own_time::tell(2000);
  os::after_look = [] {
    os::own_time::tell(2004);
    heap->blocks.age(milliseconds);
  };
  h.blocks.age(milliseconds);
  EXPECT_NE(0u, h.blocks.cached_bytes());
  os::own_time::tell(2004 + milliseconds);
  h.blocks.age(milliseconds);
  EXPECT_EQ(0u, h.blocks.cached_bytes());
}

TEST(huge_blocks,
     a_block_that_grows_where_it_may_have_huge_pages_lies_at_a_multiple_of_one_and_ends_with_one_that_is_near) {
  huge h;
  huge_blocks blocks{h.it.map(), h.it.page(), h.directory(), h.committed, true};
  std::byte* p = blocks.take(MiB, 16).p;
  ASSERT_NE(nullptr, p);
  std::memset(p, 7, MiB);
  std::size_t old = MiB;
  for (std::size_t n = 2 * MiB + 100 * KiB; n <= 80 * MiB; n = 2 * n + 100 * KiB) {
    const std::size_t had = blocks.usable(blocks.find(p));
    void* const behind =
        ::mmap(p + had, h.it.page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    std::byte* const q = blocks.resize(blocks.find(p), p, n);  // so not where it is
    ASSERT_NE(nullptr, q);
    ASSERT_NE(p, q);
    EXPECT_TRUE(is_aligned(address(q), huge_blocks::huge_page)) << n;
    const std::size_t has = blocks.usable(blocks.find(q));
    EXPECT_LE(has, n + n / 8 + h.it.page());
    EXPECT_GE(has, n + n / 8 - huge_blocks::huge_page);
    if (n >= 8 * huge_blocks::huge_page) {
      EXPECT_TRUE(is_aligned(has, huge_blocks::huge_page)) << n;
    }
    EXPECT_EQ(std::byte{7}, q[old - 1]);
    EXPECT_EQ(std::byte{0}, q[old]);
    EXPECT_EQ(has, blocks.live_bytes());
    std::memset(q, 7, n);
    if (behind != MAP_FAILED) ::munmap(behind, h.it.page());
    EXPECT_FALSE(mapped(p));
    p = q;
    old = n;
  }
  EXPECT_TRUE(blocks.give(blocks.find(p), p));
  blocks.purge(true);
}

TEST(huge_blocks, a_block_that_is_taken_to_grow_lies_at_a_huge_page_with_room) {
  huge h;
  huge_blocks blocks{h.it.map(), h.it.page(), h.directory(), h.committed, true};
  for (const std::size_t n : {2 * MiB, 3 * MiB + 1, 50 * MiB + 12345}) {
    const block_info b = blocks.take_to_grow(n);
    ASSERT_NE(nullptr, b.p);
    EXPECT_TRUE(b.zero && is_aligned(address(b.p), huge_blocks::huge_page)) << n;
    const std::size_t has = blocks.usable(blocks.find(b.p));
    EXPECT_TRUE(has >= n && has <= n + n / 8 + 2 * h.it.page()) << n << " has " << has;
    EXPECT_TRUE(blocks.suits(blocks.find(b.p), n) && !blocks.suits(blocks.find(b.p), n - 1));
    EXPECT_EQ(std::byte{0}, b.p[has - 1]);
    b.p[has - 1] = std::byte{1};
    EXPECT_TRUE(blocks.give(blocks.find(b.p), b.p));
    blocks.purge(true);
    EXPECT_FALSE(mapped(b.p));
  }
}

TEST(huge_blocks, a_block_that_is_taken_to_grow_has_no_room_where_a_cap_is_in_the_way) {
  huge h;
  h.committed.set_limit(10 * MiB);
  const block_info b = h.blocks.take_to_grow(9 * MiB + 5);
  ASSERT_NE(nullptr, b.p);
  EXPECT_EQ(align_up(9 * MiB + 5, h.it.page()), h.usable(b.p));
  EXPECT_EQ(nullptr, h.blocks.take_to_grow(2 * MiB).p);
  huge_blocks in_huge_pages{h.it.map(), h.it.page(), h.directory(), h.committed, true};
  EXPECT_NE(nullptr, in_huge_pages.take_to_grow(512 * KiB).p);
}

// ---- what is cut off a cached mapping -------------------------------------------------------------------------------------

// A heap whose cache holds one mapping of 8 MiB, all of it written to.
struct with_one_cached : huge {
  std::byte* const whole = blocks.take(8 * MiB, 16).p;
  with_one_cached() {
    std::memset(whole, 7, 8 * MiB);
    EXPECT_TRUE(free(whole));
  }
  std::byte* grown(std::byte* p, std::size_t n) {
    std::byte* const q = blocks.resize(blocks.find(p), p, n);
    EXPECT_NE(nullptr, q);
    EXPECT_EQ(committed.used(), blocks.live_bytes() + blocks.cached_bytes());
    return q;
  }
};

TEST(huge_blocks, a_block_that_grows_has_the_front_of_a_longer_cached_mapping_and_later_the_rest_where_it_lies) {
  with_one_cached h;
  const block_info b = h.blocks.take_to_grow(MiB);
  EXPECT_EQ(h.whole, b.p);
  EXPECT_FALSE(b.zero);
  EXPECT_EQ(MiB + MiB / 8, h.usable(b.p));
  EXPECT_EQ(8 * MiB, h.usable(b.p) + h.blocks.cached_bytes());
  for (const std::size_t n : {2 * MiB, 3 * MiB, 6 * MiB}) {
    EXPECT_EQ(b.p, h.grown(b.p, n));
    EXPECT_EQ(n + n / 8, h.usable(b.p));
    EXPECT_EQ(8 * MiB, h.blocks.live_bytes() + h.blocks.cached_bytes());
    EXPECT_EQ(std::byte{7}, b.p[n - 1]);  // the page was there already
  }
  EXPECT_EQ(b.p, h.grown(b.p, 8 * MiB));
  EXPECT_EQ(8 * MiB, h.usable(b.p));
  EXPECT_EQ(0u, h.blocks.cached_bytes());
  EXPECT_TRUE(h.free(b.p));
  EXPECT_EQ(8 * MiB, h.blocks.cached_bytes());
}

TEST(huge_blocks, what_was_cut_off_is_one_mapping_with_its_front_again_when_that_is_freed) {
  with_one_cached h;
  std::byte* const first = h.blocks.take_to_grow(MiB).p;
  std::byte* const second = h.blocks.take_to_grow(MiB).p;  // of the rest
  std::byte* const third = h.blocks.take_to_grow(MiB).p;   // of the rest's rest
  ASSERT_EQ(h.whole, first);
  ASSERT_EQ(first + MiB + MiB / 8, second);
  ASSERT_EQ(second + MiB + MiB / 8, third);
  for (std::byte* p : {second, third, first}) EXPECT_TRUE(h.free(p));
  EXPECT_EQ(8 * MiB, h.blocks.cached_bytes());
  EXPECT_EQ(h.whole, h.blocks.take(8 * MiB, 16).p);
}

TEST(huge_blocks, where_the_rest_has_another_user_a_block_grows_elsewhere) {
  with_one_cached h;
  std::byte* p = h.blocks.take_to_grow(MiB).p;
  std::byte* q = h.blocks.take_to_grow(2 * MiB).p;
  ASSERT_EQ(h.whole + MiB + MiB / 8, q);
  std::memset(p, 1, MiB);
  std::memset(q, 2, 2 * MiB);
  p = h.grown(p, 4 * MiB);
  EXPECT_NE(h.whole, p);
  EXPECT_EQ(q, h.grown(q, 5 * MiB));
  EXPECT_EQ(std::byte{1}, p[MiB - 1]);
  EXPECT_EQ(std::byte{2}, q[2 * MiB - 1]);
  EXPECT_TRUE(h.free(p));
  EXPECT_TRUE(h.free(q));
}

TEST(huge_blocks, where_the_rest_went_back_to_the_system_a_block_grows_into_fresh_pages) {
  with_one_cached h;
  std::byte* p = h.blocks.take_to_grow(MiB).p;
  h.blocks.purge(true);
  EXPECT_FALSE(mapped(h.whole + 4 * MiB));
  std::byte* const other = h.blocks.take(3 * MiB, 16).p;  // has the number of the rest
  std::memset(other, 3, 3 * MiB);
  ASSERT_TRUE(h.free(other));
  EXPECT_EQ(std::byte{7}, p[MiB - 1]);
  p = h.grown(p, 6 * MiB);
  EXPECT_EQ(std::byte{7}, p[MiB - 1]);
  EXPECT_EQ(std::byte{0}, p[5 * MiB]);
  EXPECT_EQ(3 * MiB, h.blocks.cached_bytes());
  EXPECT_TRUE(h.free(p));
}

TEST(huge_blocks, a_block_grows_within_its_mapping_however_little_of_it_was_asked) {
  huge h;
  huge_blocks blocks{h.it.map(), h.it.page(), h.directory(), h.committed, true};
  std::byte* const ballast = blocks.take(huge_blocks::large_heap, 16).p;
  std::byte* const p = blocks.take_to_grow(MiB).p;
  ASSERT_EQ(huge_blocks::huge_page, blocks.usable(blocks.find(p)));
  EXPECT_EQ(p, blocks.resize(blocks.find(p), p, MiB + MiB / 4));
  EXPECT_EQ(huge_blocks::huge_page, blocks.usable(blocks.find(p)));
  for (std::byte* b : {ballast, p}) EXPECT_TRUE(blocks.give(blocks.find(b), b));
  blocks.purge(true);
}

// What the kernel does not make readable is mapped as ever.
TEST(huge_blocks, a_block_can_be_taken_to_grow_where_a_reservation_cannot_be_used) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              huge h;
              huge_blocks blocks{h.it.map(), h.it.page(), h.directory(), h.committed, true};
              if (!os::answer(SYS_mprotect, ENOMEM)) return 1;
              const block_info b = blocks.take_to_grow(5 * MiB);
              if (!b.p || !b.zero) return 2;
              b.p[0] = b.p[5 * MiB - 1] = std::byte{1};
              if (blocks.live_bytes() != blocks.usable(blocks.find(b.p))) return 3;
              return 0;
            }));
}

TEST(huge_blocks, where_the_ends_of_a_reservation_are_not_taken_back_none_is_cut_twice) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              huge h;
              huge_blocks blocks{h.it.map(), h.it.page(), h.directory(), h.committed, true};
              std::byte* p = blocks.take(MiB, 16).p;
              p[MiB - 1] = std::byte{1};
              if (!os::answer(SYS_munmap, ENOMEM)) return 1;
              std::size_t beside = 0;  // the block
              for (std::size_t n = 3 * MiB; n <= 96 * MiB; n *= 2) {
                os::map(os::page_size());  // so not where it is
                p = blocks.resize(blocks.find(p), p, n);
                if (!p || p[MiB - 1] != std::byte{1} || p[n - 1] != std::byte{0}) return 2;
                const std::size_t now = os::bytes_used(os::used::address_space) - blocks.usable(blocks.find(p));
                if (beside != 0 && now > beside + MiB) return 3;
                beside = now;
              }
              return 0;
            }));
}

TEST(huge_blocks, an_aligned_block_is_resized_with_what_lies_before_it) {
  huge h;
  const block_info b = h.blocks.take(3 * MiB, 64 * MiB);
  b.p[0] = std::byte{1}, b.p[3 * MiB - 1] = std::byte{2};
  std::byte* const q = h.blocks.resize(h.blocks.find(b.p), b.p, 200 * MiB);
  ASSERT_NE(nullptr, q);
  EXPECT_GE(h.usable(q), 200 * MiB);
  EXPECT_EQ(std::byte{1}, q[0]);
  EXPECT_EQ(std::byte{2}, q[3 * MiB - 1]);
  q[200 * MiB - 1] = std::byte{3};
  EXPECT_TRUE(h.free(q));
}

TEST(huge_blocks, a_resize_that_is_refused_changes_nothing) {
  huge h;
  std::byte* const p = h.blocks.take(3 * MiB, 16).p;
  p[0] = p[3 * MiB - 1] = std::byte{1};
  EXPECT_EQ(nullptr, h.blocks.resize(h.blocks.find(p), p, PTRDIFF_MAX));
  EXPECT_EQ(nullptr, h.blocks.resize(h.blocks.find(p), p, SIZE_MAX / 4));
  EXPECT_NE(0u, h.blocks.find(p));
  EXPECT_EQ(std::byte{1}, p[3 * MiB - 1]);
  EXPECT_EQ(3 * MiB, h.blocks.live_bytes());
  EXPECT_TRUE(h.free(p));
}

TEST(huge_blocks, a_resize_that_a_filter_refuses_changes_nothing) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  huge h;
  std::byte* const p = h.blocks.take(3 * MiB, 16).p;
  p[0] = p[3 * MiB - 1] = std::byte{1};
  EXPECT_EQ(os::fine, os::forked([&] {
              if (!os::answer(SYS_mremap, ENOMEM)) return 1;
              if (h.blocks.resize(h.blocks.find(p), p, 20 * MiB) != nullptr) return 2;
              if (h.blocks.resize(h.blocks.find(p), p, MiB) != nullptr) return 5;
              if (h.blocks.find(p) == 0 || p[0] != std::byte{1} || p[3 * MiB - 1] != std::byte{1}) return 3;
              return h.free(p) ? 0 : 4;
            }));
  EXPECT_TRUE(h.free(p));
}

// A block of 3 MiB that is to become one of 20, which the kernel refuses when it has given up the place for it; another is there at
// once, as `begin` makes it.
struct refused_late : huge {
  static inline refused_late* now;
  huge_blocks in_huge_pages{it.map(), it.page(), directory(), committed, true};
  huge_blocks& moving;
  std::byte* other = nullptr;
  std::size_t length = 0;
  std::byte* (*begin)(void* to, std::size_t bytes);

  refused_late(bool huge_pages, std::byte* (*how)(void*, std::size_t))
      : moving(huge_pages ? in_huge_pages : blocks), begin(how) {
    now = this;
    std::byte* p = moving.take(3 * MiB, 16).p;
    p[0] = p[3 * MiB - 1] = std::byte{1};
    void* const wall =
        ::mmap(p + 3 * MiB, it.page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    os::when_lost = [](void* to, std::size_t bytes) {
      now->length = bytes;
      now->other = now->begin(to, bytes);
      EXPECT_EQ(to, now->other);
      *now->other = std::byte{2};
    };
    if (std::byte* const q = moving.resize(moving.find(p), p, 20 * MiB)) p = q;  // without room, perhaps
    EXPECT_NE(0u, moving.find(p));
    EXPECT_TRUE(p[0] == std::byte{1} && p[3 * MiB - 1] == std::byte{1});
    EXPECT_TRUE(moving.give(moving.find(p), p));
    moving.purge(true);
    if (wall != MAP_FAILED) ::munmap(wall, it.page());
  }
  bool other_is_there() const { return other != nullptr && mapped(other) && *other == std::byte{2}; }
};

TEST(huge_blocks, a_resize_that_is_refused_late_leaves_the_mapping_that_another_thread_has_in_its_place) {
  for (const bool huge_pages : {false, true}) {
    const refused_late h(
        huge_pages, [](void* to, std::size_t bytes) { return static_cast<std::byte*>(os::map_near(to, bytes)); });
    ASSERT_TRUE(h.other_is_there());
    EXPECT_TRUE(os::unmap(h.other, h.length));
  }
}

TEST(huge_blocks, a_resize_that_is_refused_late_leaves_the_block_that_another_thread_has_in_its_place) {
#if defined(POLDER_EMULATED)
  GTEST_SKIP() << "the next mapping lies elsewhere than the last that went";
#endif
  refused_late h(false, [](void*, std::size_t bytes) { return refused_late::now->blocks.take(bytes, 16).p; });
  ASSERT_TRUE(h.other_is_there());
  EXPECT_EQ(h.length, h.usable(h.other));
  EXPECT_TRUE(h.free(h.other));
}

TEST(huge_blocks, a_kernel_that_cannot_unmap_keeps_the_mapping_without_its_pages) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              huge h;
              std::byte* const p = h.blocks.take(2 * MiB, 16).p;
              *p = std::byte{1};
              if (!h.free(p)) return 1;
              if (!os::answer(SYS_munmap, ENOMEM)) return 2;
              h.blocks.purge(true);
              if (h.blocks.find(p) != 0) return 3;
              if (*p != std::byte{0}) return 4;
              // Too short for this one: it stays for the next.
              if (h.blocks.take(3 * MiB, 16).p == nullptr) return 5;
              return h.blocks.take(2 * MiB, 16).p == p ? 0 : 6;
            }));
}

// Freed mappings of these lengths, which the kernel will not take back from now on. None: it cannot be made to refuse.
std::vector<std::byte*> not_taken_back(huge& h, const std::vector<std::size_t>& lengths) {
  std::vector<std::byte*> all;
  for (const std::size_t n : lengths) all.push_back(h.blocks.take(n, 16).p);
  if (!os::answer(SYS_munmap, ENOMEM)) return {};
  for (std::byte* p : all)
    if (!h.free(p)) return {};
  h.blocks.purge(true);
  return all;
}

// An offer in vain drops the pages once more: where something was written, it shows.
TEST(huge_blocks, what_the_kernel_would_not_take_back_is_offered_to_it_again_by_a_purge_and_by_nobody_else) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              huge h;
              const auto all = not_taken_back(h, std::vector<std::size_t>(40, 2 * MiB));
              if (all.size() != 40) return 1;
              for (std::byte* p : all) *p = std::byte{1};
              const auto as_written = [&] {
                return std::count_if(all.begin(), all.end(), [](auto* p) { return *p == std::byte{1}; });
              };
              for (int i = 0; i != 10; ++i)
                if (std::find(all.begin(), all.end(), h.blocks.take(2 * MiB, 16).p) == all.end()) return 3;
              std::byte* const longer = h.blocks.take(3 * MiB, 16).p;
              if (std::find(all.begin(), all.end(), longer) != all.end()) return 4;
              if (!h.free(longer) || h.blocks.purge_cache(true) != 3 * MiB) return 5;
              if (as_written() != 40) return 6;
              h.blocks.purge(false);
              if (as_written() < 39) return 7;
              h.blocks.purge(true);
              return as_written() == 10 ? 0 : 8;
            }));
}

TEST(huge_blocks, of_a_few_that_the_kernel_would_not_take_back_the_shortest_that_is_long_enough_is_used) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              huge h;
              const auto all = not_taken_back(h, {9 * MiB, 3 * MiB, 5 * MiB, 7 * MiB});
              if (all.size() != 4) return 1;
              if (h.blocks.take(4 * MiB, 16).p != all[2]) return 3;
              if (h.blocks.take(4 * MiB, 16).p != all[3]) return 4;
              h.committed.set_limit(h.committed.used() + 8 * MiB);
              const std::byte* const other = h.blocks.take(8 * MiB, 16).p;  // 9 MiB are more than it may be
              if (other == nullptr || other == all[0]) return 5;
              return h.blocks.take(8 * MiB, 16).p == nullptr ? 0 : 6;
            }));
}

TEST(huge_blocks, out_of_address_space_the_cache_is_given_up_first) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              huge h;
              std::vector<std::byte*> cached;
              for (int i = 0; i != 8; ++i) cached.push_back(h.blocks.take(4 * MiB, 16).p);
              const rlimit none{0, 0};
              if (::setrlimit(RLIMIT_AS, &none) != 0) return 1;
              if (h.blocks.take(2 * MiB, 16).p) return 2;
              for (std::byte* p : cached)
                if (!h.free(p)) return 3;
              if (h.blocks.cached_bytes() != 32 * MiB) return 4;
              if (h.blocks.take(2 * MiB, 16).p) return 5;  // the limit is below what is mapped
              return h.blocks.cached_bytes() == 0 ? 0 : 6;
            }));
}

TEST(huge_blocks, a_block_grows_where_no_other_of_its_length_could_be_had_beside_it) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;  // which needs address space of its own
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              huge h;
              std::byte* p = h.blocks.take(50 * MiB, 16).p;
              p[0] = p[50 * MiB - 1] = std::byte{1};
              void* const wall = ::mmap(p + h.usable(p), h.it.page(), PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
              if (wall == MAP_FAILED && errno != EEXIST) return 1;
              const std::size_t all = os::bytes_used(os::used::address_space) + 30 * MiB;
              const rlimit less{all, all};
              if (::setrlimit(RLIMIT_AS, &less) != 0) return 2;
              const std::byte* const old = p;
              for (const std::size_t n : {60 * MiB, 70 * MiB}) {
                p = h.blocks.resize(h.blocks.find(p), p, n);
                if (p == nullptr) return 3;
                if (p[0] != std::byte{1} || p[50 * MiB - 1] != std::byte{1} || h.usable(p) < n) return 4;
                p[n - 1] = std::byte{1};
              }
              if (old != p && h.blocks.find(old) != 0) return 5;
              if (h.blocks.resize(h.blocks.find(p), p, 100 * MiB) != nullptr) return 6;
              if (p[70 * MiB - 1] != std::byte{1}) return 7;
              if (h.committed.used() != h.blocks.live_bytes()) return 8;
              return h.free(p) ? 0 : 9;
            }));
}

// An address that one block gives up becomes another's at once: the map and the records must never mix them up. Blocks
// are marked at both ends; who finds another's mark has been handed the same memory.
TEST(huge_blocks, threads_that_take_resize_and_give_never_share_an_address) {
  huge h;
  atomic<std::uint32_t> wrong, refused;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t != 4; ++t)
    threads.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      struct held {
        std::byte* p;
        std::size_t n;
        std::uint32_t mark;
      };
      std::vector<held> blocks;
      std::uint32_t marks = 0;
      const auto mark = [&](held& b) {
        b.mark = ++marks << 3 | t;
        std::memcpy(b.p, &b.mark, 4);
        std::memcpy(b.p + b.n - 4, &b.mark, 4);
      };
      const auto check = [&](const held& b) {
        if (std::memcmp(b.p, &b.mark, 4) != 0 || std::memcmp(b.p + b.n - 4, &b.mark, 4) != 0)
          wrong.fetch_add(1, order::relaxed);
      };
      for (int step = 0; step != 1'500; ++step) {
        const unsigned dice = unsigned(random() % 10);
        if (blocks.size() < 4 || (dice < 3 && blocks.size() < 12)) {
          const std::size_t n = 2 * MiB + random() % (3 * MiB);
          const block_info b = dice == 1 ? h.blocks.take_to_grow(n) : h.blocks.take(n, dice == 0 ? 4 * MiB : 16);
          if (!b.p) continue;
          std::uint32_t found = 0;
          std::memcpy(&found, b.p, 4);
          if (b.zero && found != 0) wrong.fetch_add(1, order::relaxed);
          blocks.push_back({b.p, n, 0});
          mark(blocks.back());
          continue;
        }
        std::swap(blocks[random() % blocks.size()], blocks.back());
        held& b = blocks.back();
        check(b);
        const std::uint32_t number = h.blocks.find(b.p);
        if (number == 0) {
          refused.fetch_add(1, order::relaxed);
          blocks.pop_back();
        } else if (dice < 6) {
          const std::size_t n = 2 * MiB + random() % (6 * MiB);
          if (std::byte* const q = h.blocks.resize(number, b.p, n)) {
            if (std::memcmp(q, &b.mark, 4) != 0) wrong.fetch_add(1, order::relaxed);
            b.p = q;
            b.n = n;
            mark(b);
          }
        } else {
          if (!h.blocks.give(number, b.p)) refused.fetch_add(1, order::relaxed);
          blocks.pop_back();
        }
        if (step % 200 == 199) h.blocks.purge(dice % 2 == 0);
      }
      for (const held& b : blocks) {
        check(b);
        if (!h.free(b.p)) refused.fetch_add(1, order::relaxed);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(0u, wrong.load(order::relaxed));
  EXPECT_EQ(0u, refused.load(order::relaxed));
  EXPECT_EQ(0u, h.blocks.live_bytes());
  h.blocks.purge(true);
  EXPECT_EQ(0u, h.blocks.cached_bytes());
  EXPECT_EQ(0u, h.committed.used());
}

// ---- under a cap, above a target ---------------------------------------------------------------------------------------

TEST(huge_blocks, under_a_cap_what_does_not_fit_is_refused_and_changes_nothing) {
  huge h;
  h.committed.set_limit(50 * MiB);
  std::byte* const p = h.blocks.take(40 * MiB, 16).p;
  ASSERT_NE(nullptr, p);
  EXPECT_EQ(nullptr, h.blocks.take(11 * MiB, 16).p);
  EXPECT_EQ(nullptr, h.blocks.resize(h.blocks.find(p), p, 51 * MiB));
  EXPECT_EQ(40 * MiB, h.usable(p));
  EXPECT_EQ(40 * MiB, h.committed.used());
  std::byte* const q = h.blocks.resize(h.blocks.find(p), p, 49 * MiB);
  ASSERT_NE(nullptr, q);
  EXPECT_EQ(h.usable(q), h.committed.used());
  EXPECT_LE(h.committed.used(), 50 * MiB);
  EXPECT_TRUE(h.free(q));
  EXPECT_EQ(h.blocks.cached_bytes(), h.committed.used());
}

TEST(huge_blocks, under_a_cap_the_cached_make_room) {
  huge h;
  h.committed.set_limit(30 * MiB);
  std::byte* const p = h.blocks.take(20 * MiB, 16).p;
  ASSERT_TRUE(h.free(p));
  EXPECT_EQ(20 * MiB, h.committed.used());
  EXPECT_NE(nullptr, h.blocks.take(28 * MiB, 16).p);
  EXPECT_EQ(0u, h.blocks.cached_bytes());
  EXPECT_EQ(28 * MiB, h.committed.used());
}

TEST(huge_blocks, above_the_target_none_is_cached_and_none_grows_further_than_asked) {
  huge h;
  h.committed.set_target(10 * MiB);
  std::byte* p = h.blocks.take(20 * MiB, 16).p;
  ASSERT_NE(nullptr, p);
  void* const wall =
      ::mmap(p + 20 * MiB, h.it.page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  p = h.blocks.resize(h.blocks.find(p), p, 24 * MiB);  // not where it is
  ASSERT_NE(nullptr, p);
  EXPECT_EQ(24 * MiB, h.usable(p));
  EXPECT_EQ(24 * MiB, h.committed.used());
  ASSERT_TRUE(h.free(p));
  EXPECT_EQ(0u, h.blocks.cached_bytes());
  EXPECT_EQ(0u, h.committed.used());
  if (wall != MAP_FAILED) ::munmap(wall, h.it.page());
}

}  // namespace
}  // namespace polder::mem
