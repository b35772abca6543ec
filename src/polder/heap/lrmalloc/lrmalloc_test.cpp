// LRMalloc's fills, flushes, descriptors and superblocks, from the inside.
#include <polder/heap/lrmalloc/lrmalloc.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/base/some_types_test.hpp>
#include <polder/heap/hosted_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::heap {
namespace {

using lrmalloc::size_classes;
using lrmalloc::superblock_of;
using lrmalloc::superblock_size;

template <class Heap>
struct lrmalloc_heaps : testing::Test {};
using sheets = some_types<hosted<lrmalloc_sheet>, hosted<lrmalloc_radix_sheet>, hosted<lrmalloc_recycle_sheet>>;
TYPED_TEST_SUITE(lrmalloc_heaps, sheets);

auto counted(auto& h) { return h.front().superblocks().count(); }
auto walked(auto& h) { return h.front().superblocks().walk(); }

bool mapped(const void* p) {
  unsigned char in[superblock_size / 4096] = {};
  return ::mincore(const_cast<std::byte*>(superblock_of(p)), superblock_size, in) == 0 || errno != ENOMEM;
}

void expect_ordered(const statistics& s) {
  EXPECT_LE(s.allocated, s.active);
  EXPECT_LE(s.active, s.resident);
  EXPECT_LE(s.resident, s.mapped);
  EXPECT_LE(s.mapped, s.reserved);
}

std::vector<void*> some(auto& h, std::size_t n, std::size_t size) {
  std::vector<void*> blocks(n);
  for (void*& p : blocks) {
    p = h.allocate(size);
    EXPECT_NE(nullptr, p);
  }
  return blocks;
}

// ---- size classes and superblocks --------------------------------------------------------------------------------------

TEST(lrmalloc_geometry, classes_by_table_are_the_series) {
  for (std::size_t n = 0; n <= 16 * KiB; ++n)
    ASSERT_EQ(mem::size_class::geometric4::of(n), size_classes::of(n)) << n;
  EXPECT_EQ(0u, size_classes::of(16 * KiB + 1)) << "large";
}

TEST(lrmalloc_geometry, every_block_knows_its_number) {
  for (unsigned c = 1; c <= size_classes::count; ++c) {
    ASSERT_LE(size_classes::capacity[c] * size_classes::block_size[c], superblock_size);
    for (std::uint32_t i = 0; i < size_classes::capacity[c]; ++i)
      ASSERT_EQ(i, size_classes::index_of(c, i * size_classes::block_size[c]));
  }
}

TYPED_TEST(lrmalloc_heaps, every_class_gives_all_blocks_of_a_superblock) {
  TypeParam h;
  for (unsigned c = 1; c <= size_classes::count; ++c) {
    const std::size_t size = size_classes::block_size[c];
    const auto before = h.it.begun() ? counted(h).opened : 0;
    auto blocks = some(h, size_classes::capacity[c], size);
    EXPECT_EQ(before + 1, counted(h).opened) << size;
    std::sort(blocks.begin(), blocks.end());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      ASSERT_EQ(superblock_of(blocks[0]) + i * size, blocks[i]);
      ASSERT_EQ(size, h.it.usable_size(blocks[i]));
      std::memset(blocks[i], int(i), size);
    }
    for (void* p : blocks) h.free(p);
    h.it.validate();
  }
  expect_ordered(h.now());
  EXPECT_EQ(0u, h.now().allocated);
}

TYPED_TEST(lrmalloc_heaps, untouched_blocks_take_no_memory) {
  TypeParam h;
  auto* const p = static_cast<char*>(h.allocate(16));
  unsigned char in[superblock_size / 4096] = {};
  if (os::page_size() != 4096) GTEST_SKIP();
  ASSERT_EQ(0, ::mincore(superblock_of(p), superblock_size, in));
  EXPECT_EQ(1, std::count_if(std::begin(in), std::end(in), [](unsigned char c) { return c & 1; }));
  h.free(p);
}

// ---- fill --------------------------------------------------------------------------------------------------------------

TYPED_TEST(lrmalloc_heaps, a_fill_brings_all_free_blocks_of_one_superblock) {
  TypeParam h;
  auto blocks = some(h, 2 * 64, 1024);  // two superblocks
  ASSERT_EQ(2u, counted(h).opened);
  // 30 of the first and 20 of the second go back.
  for (int i = 0; i < 30; ++i) h.free(std::exchange(blocks[i], nullptr));
  for (int i = 70; i < 90; ++i) h.free(std::exchange(blocks[i], nullptr));
  h.it.trim(0);
  EXPECT_EQ(2u, walked(h).partial);
  EXPECT_EQ(50u, walked(h).free_blocks);
  EXPECT_EQ(2u, counted(h).groups);
  const auto fills = counted(h).fills;
  for (int i = 0; i < 20; ++i) blocks.push_back(h.allocate(1024));
  EXPECT_EQ(fills + 1, counted(h).fills) << "one take for all its blocks";
  EXPECT_EQ(1u, walked(h).partial);
  for (int i = 0; i < 30; ++i) blocks.push_back(h.allocate(1024));
  EXPECT_EQ(fills + 2, counted(h).fills);
  EXPECT_EQ(2u, counted(h).opened);
  EXPECT_EQ(2u, walked(h).full);
  for (void* p : blocks) h.free(p);
}

TYPED_TEST(lrmalloc_heaps, what_was_never_threaded_goes_back_and_comes_again) {
  TypeParam h;
  void* const first = h.allocate(16);
  h.it.trim(0);
  EXPECT_EQ(4095u, walked(h).free_blocks) << "with those that nobody touched";
  std::set<void*> all = {first};
  for (int i = 0; i < 4095; ++i) ASSERT_TRUE(all.insert(h.allocate(16)).second);
  EXPECT_EQ(1u, counted(h).opened);
  for (int i = 0; i < 1000; ++i) {
    h.free(*all.begin());
    all.erase(all.begin());
  }
  h.it.trim(0);
  EXPECT_EQ(1000u, walked(h).free_blocks);
  for (void* p : all) h.free(p);
  h.it.trim(0);
  EXPECT_EQ(1u, counted(h).closed);
}

// ---- flush -------------------------------------------------------------------------------------------------------------

TYPED_TEST(lrmalloc_heaps, a_full_cache_is_flushed_by_groups) {
  TypeParam h;
  const std::uint32_t n = size_classes::capacity[size_classes::of(64)];
  auto blocks = some(h, 4 * n, 64);
  for (void* p : blocks) h.free(p);
  const auto c = counted(h);
  EXPECT_EQ(3u, c.groups) << "blocks freed in the order they were had: a group a superblock";
  EXPECT_EQ(3u * n, c.given_back);
  EXPECT_EQ(3u, c.closed);
}

TYPED_TEST(lrmalloc_heaps, interleaved_blocks_are_the_worst_case) {
  TypeParam h;
  const std::uint32_t n = size_classes::capacity[size_classes::of(64)];
  auto blocks = some(h, 2 * n, 64);
  for (std::uint32_t i = 0; i < n; ++i) {
    h.free(blocks[i]);
    h.free(blocks[n + i]);
  }
  h.it.trim(0);
  const auto c = counted(h);
  EXPECT_EQ(2u * n, c.given_back);
  EXPECT_EQ(c.given_back, c.groups) << "a compare-and-swap a block";
  EXPECT_EQ(2u, c.closed);
}

TYPED_TEST(lrmalloc_heaps, empty_superblocks_go_back_at_once) {
  TypeParam h;
  void* const keep = h.allocate(16);
  auto blocks = some(h, 100'000, 16);
  const void* const somewhere = blocks[50'000];
  EXPECT_GE(counted(h).opened, 24u);
  EXPECT_TRUE(mapped(somewhere));
  for (void* p : blocks) h.free(p);
  EXPECT_LE(h.now().spans, 3u) << "but for one cache full";
  EXPECT_FALSE(mapped(somewhere));
  EXPECT_FALSE(h.it.owns(somewhere));
  h.free(keep);
  h.it.trim(0);
  EXPECT_EQ(0u, h.now().spans);
  expect_ordered(h.now());
}

// ---- descriptors -------------------------------------------------------------------------------------------------------

TYPED_TEST(lrmalloc_heaps, from_full_to_empty_in_one_flush_the_descriptor_is_not_lost) {
  TypeParam h;
  for (int round = 0; round < 1000; ++round) {
    auto blocks = some(h, 4, 16 * KiB);
    for (void* p : blocks) h.free(p);
    h.it.trim(0);
  }
  EXPECT_EQ(1000u, counted(h).opened);
  EXPECT_EQ(1000u, counted(h).closed);
  EXPECT_EQ(1u, counted(h).descriptors);
}

TYPED_TEST(lrmalloc_heaps, descriptors_are_as_many_as_superblocks_were_at_once) {
  TypeParam h;
  std::mt19937 random(5);
  std::size_t most = 0;
  std::vector<void*> live;
  for (int round = 0; round < 400; ++round) {
    const std::size_t wanted = random() % 600;
    const std::size_t size = std::size_t{1024} << random() % 4;
    while (live.size() < wanted) live.push_back(h.allocate(size));
    std::shuffle(live.begin(), live.end(), random);
    while (live.size() > wanted) {
      h.free(live.back());
      live.pop_back();
    }
    if (random() % 4 == 0) h.it.trim(0);
    most = std::max<std::size_t>(most, h.now().spans);
  }
  const auto c = counted(h);
  EXPECT_GT(c.opened, 10 * most) << "or the test shows nothing";
  EXPECT_LE(c.descriptors, 4 * most) << "each of the four classes has its own peak";
  for (void* p : live) h.free(p);
  h.it.trim(0);
  EXPECT_EQ(0u, h.now().spans);
}

// ---- threads -----------------------------------------------------------------------------------------------------------

TEST(lrmalloc, a_thread_that_ends_flushes_its_cache) {
  hosted<lrmalloc_sheet> h;
  void* kept = nullptr;
  h.in_a_thread([&] {
    for (int i = 0; i < 100; ++i) h.free(h.allocate(std::size_t(i) * 100));
    kept = h.allocate(64);
  });
  EXPECT_EQ(1u, h.now().spans);
  EXPECT_EQ(1023u, walked(h).free_blocks);
  h.free(kept);
}

TEST(lrmalloc, a_recycled_cache_serves_the_next_thread) {
  hosted<lrmalloc_recycle_sheet> h;
  void* first = nullptr;
  h.in_a_thread([&] { h.free(first = h.allocate(64)); });
  EXPECT_EQ(1u, h.now().spans) << "its blocks wait";
  h.in_a_thread([&] {
    EXPECT_EQ(first, h.allocate(64));
    h.free(first);
  });
  EXPECT_EQ(1u, counted(h).opened);
  EXPECT_EQ(0u, counted(h).groups);
}

TYPED_TEST(lrmalloc_heaps, blocks_wander_between_threads) {
  TypeParam h;
  constexpr unsigned threads = 4, slots = 4096;
  static std::atomic<void*> shared[slots];
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.push_back(h.thread([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 60'000; ++i) {
        const std::size_t size = random() % 8 == 0 ? random() % 20'000 : random() % 200;
        auto* p = static_cast<unsigned char*>(h.allocate(size + 1));
        ASSERT_NE(nullptr, p);
        p[0] = p[size] = static_cast<unsigned char>(t);
        if (void* const old = shared[random() % slots].exchange(p)) h.free(old);
      }
    }));
  for (auto& t : all) t.join();
  h.it.validate();
  for (auto& s : shared)
    if (void* const p = s.exchange(nullptr)) h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
  h.it.trim(0);
  h.it.validate();
  expect_ordered(h.now());
}

TYPED_TEST(lrmalloc_heaps, a_child_of_fork_goes_on) {
  TypeParam h;
  auto blocks = some(h, 1000, 48);
  EXPECT_EQ(os::fine, os::forked([&] {
              h.it.after_fork_child();
              for (void* p : blocks) h.free(p);
              h.it.trim(0);
              h.it.validate();
              return h.now().allocated == 0 && h.now().spans == 0 ? 0 : 1;
            }));
  for (void* p : blocks) h.free(p);
}

// ---- large blocks ------------------------------------------------------------------------------------------------------

TYPED_TEST(lrmalloc_heaps, large_blocks_also_beyond_four_gibibytes) {
  TypeParam h;
  void* const first = h.allocate(16 * KiB + 1);
  EXPECT_EQ(0u, h.now().spans) << "no superblock of a class";
  EXPECT_GE(h.it.usable_size(first), 16 * KiB + 1);
  h.free(first);
#if !POLDER_SANITIZED
  constexpr std::size_t huge = 4 * GiB + 4096;
  auto* const p = static_cast<char*>(h.allocate(huge));
  if (!p) GTEST_SKIP() << "the system does not map 4 GiB";
  EXPECT_GE(h.it.usable_size(p), huge);
  p[0] = p[huge - 1] = 1;
  auto* const q = static_cast<char*>(h.it.reallocate(p, huge + GiB));
  ASSERT_NE(nullptr, q);
  EXPECT_GE(h.it.usable_size(q), huge + GiB);
  EXPECT_EQ(1, q[huge - 1]);
  h.free(q);
  EXPECT_EQ(0u, h.now().allocated);
#endif
}

// All above 16 KiB are large, so there may be many. Untouched, they cost their records, 64 MiB.
TEST(lrmalloc, has_more_than_a_million_large_blocks) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;
  hosted<lrmalloc_sheet> h;
  constexpr std::size_t many = (std::size_t{1} << 20) + 1000;
  std::vector<void*> all;
  all.reserve(many);
  for (std::size_t i = 0; i != many; ++i) {
    all.push_back(h.allocate(20 * KiB));
    if (all.back() == nullptr && os::address_space_limit() != SIZE_MAX) break;
    ASSERT_NE(nullptr, all.back()) << i;
  }
  for (void* p : all) h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
}

// ---- misuse ------------------------------------------------------------------------------------------------------------

TYPED_TEST(lrmalloc_heaps, misuse_is_told) {
  TypeParam h;
  auto* const p = static_cast<char*>(h.allocate(48));
  auto* const edge = static_cast<char*>(h.allocate(48));
  EXPECT_DEATH(h.free(p + 16), "polder: misaligned free of ");
  EXPECT_DEATH(h.free(p + 1), "polder: misaligned free of ");
  EXPECT_DEATH((h.free(p), h.free(p)), "polder: double free of ");
  EXPECT_DEATH((h.free(p), h.it.trim(0), h.free(p)), "polder: double free of ");
  EXPECT_DEATH(h.free(superblock_of(p) + 5 * 4096), "polder: free of a foreign pointer ") << "never handed out";
  EXPECT_DEATH(h.free(superblock_of(p) + size_classes::usable_bytes[3]), "polder: free of a foreign pointer ");
  EXPECT_DEATH((h.free(p), std::memset(p, 1, 48), h.allocate(48)), "polder: corrupted free block ");
  EXPECT_DEATH((h.free(p), std::memset(p, 1, 48), h.it.trim(0)), "polder: corrupted free block ");
  h.free(p);
  h.free(edge);
}

}  // namespace
}  // namespace polder::heap
