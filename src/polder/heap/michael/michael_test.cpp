#include <polder/heap/michael/michael.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <polder/heap/hosted_test.hpp>

namespace polder::heap {
namespace {

using michael::prefix_bytes;
using michael::prefixed_classes;
using heap_of_michael = hosted<michael_sheet>;

options with(michael::tuned which, std::uint64_t value) {
  options o = heap_of_michael::usual();
  o.tuned[which] = value;
  return o;
}

TEST(prefixed_classes_of_michael, hold_what_is_asked_and_keep_the_alignment) {
  for (std::size_t n = 0; n <= prefixed_classes::largest; ++n) {
    const unsigned c = prefixed_classes::of(n);
    ASSERT_GE(prefixed_classes::block_size[c], n);
    if (c > 1) {
      ASSERT_LT(prefixed_classes::block_size[c - 1], n);
    }
  }
  EXPECT_EQ(0u, prefixed_classes::of(prefixed_classes::largest + 1));
  EXPECT_EQ(0u, prefixed_classes::of(SIZE_MAX));
  for (unsigned c = 1; c <= prefixed_classes::count; ++c) {
    const auto& cut = prefixed_classes::cuts[c];
    EXPECT_GE(cut.capacity, 2u);
    EXPECT_LE(cut.capacity, 1024u);
    EXPECT_LE(prefixed_classes::offset(c, cut.capacity - 1) + prefixed_classes::block_size[c], cut.bytes);
    for (unsigned i = 0; i != cut.capacity; ++i) {
      ASSERT_EQ(i, prefixed_classes::index(c, prefixed_classes::offset(c, i)));
      ASSERT_EQ(0u, prefixed_classes::offset(c, i) % min_alignment);
      ASSERT_EQ(~0u, prefixed_classes::index(c, prefixed_classes::offset(c, i) + 8));
    }
  }
  for (std::size_t a = 32; a <= 16 * KiB; a *= 2)
    for (std::size_t n : {std::size_t{1}, a - 8, a, a + 1, std::size_t{5000}})
      if (const unsigned c = prefixed_classes::aligned(n, a)) {
        EXPECT_GE(prefixed_classes::block_size[c], n);
        EXPECT_EQ(0u, prefixed_classes::cuts[c].size % a);
        EXPECT_EQ(0u, prefixed_classes::cuts[c].start % a);
      } else {
        EXPECT_GT(n, 8 * KiB);
      }
}

// M1: eight bytes, between a block and the one before.
TEST(michael, a_prefix_points_to_the_descriptor) {
  heap_of_michael h;
  auto* a = static_cast<std::byte*>(h.allocate(24));
  const block_info b = h.front().find(a);
  std::uint64_t prefix;
  std::memcpy(&prefix, a - 8, 8);
  EXPECT_EQ(b.record, reinterpret_cast<void*>(prefix & ~std::uint64_t{63}));
  EXPECT_EQ(24u, h.it.usable_size(a));
  auto* next = static_cast<std::byte*>(h.allocate(24));
  EXPECT_EQ(32, next - a);
  h.free(a);
  h.free(next);
}

// M14: less than one per cent.
TEST(michael, descriptors_are_small) {
  EXPECT_EQ(64u, michael_sheet::front::descriptor_size);
  static_assert(64 * 100 < 16 * KiB);
}

// M16: a call to the system for 64 superblocks; nothing is written into those not used; empty ones go back.
TEST(michael, hyperblocks) {
  options o = heap_of_michael::usual();
  o.tuned[michael::tuned_spare] = 0;
  heap_of_michael h(o);
  std::vector<void*> all{h.allocate(1000)};
  const std::uint64_t before = h.front().hyperblocks_part().calls();
  for (int i = 0; i != 8 * 64 * 15; ++i) all.push_back(h.allocate(1000));  // 15 to a superblock
  const std::uint64_t calls = h.front().hyperblocks_part().calls() - before;
  EXPECT_LE(calls, 10u);
  const std::size_t full = h.now().mapped;
  for (void* p : all) h.free(p);
  EXPECT_LE(h.now().mapped + 7 * MiB, full);
  EXPECT_GT(h.front().hyperblocks_part().calls(), before + calls);
}

// Superblocks of 4 and 16 places are as easily found as those of one, whatever the others leave open below, and so is a new hyperblock.
TEST(michael, a_superblock_is_found_without_a_look_at_all_hyperblocks) {
  heap_of_michael h;
  std::vector<void*> all{h.allocate(1)};
  const auto& hyper = h.front().hyperblocks_part();
  for (std::size_t size : {1000, 8000, 30000, 8000}) {
    const std::uint64_t before = hyper.looks();
    const std::size_t superblocks = h.now().spans;
    for (std::size_t bytes = 0; bytes < 64 * MiB; bytes += size) all.push_back(h.allocate(size));
    // A new hyperblock is two looks more: at the one that is full, and at itself.
    EXPECT_LE(hyper.looks() - before, 2 * (h.now().spans - superblocks) + 64) << size;
  }
  // One superblock in each second hyperblock comes back: it is found again, and nothing else is looked at twice.
  std::mt19937 random(5);
  std::shuffle(all.begin(), all.end(), random);
  const std::size_t half = all.size() / 2;
  for (std::size_t i = half; i != all.size(); ++i) h.free(all[i]);
  all.resize(half);
  const std::uint64_t before = hyper.looks();
  const std::size_t superblocks = h.now().spans;
  for (std::size_t bytes = 0; bytes < 64 * MiB; bytes += 30000) all.push_back(h.allocate(30000));
  EXPECT_LE(hyper.looks() - before, 2 * (h.now().spans - superblocks) + 4 * 64);
  for (void* p : all) h.free(p);
}

// A place that nobody has is cached while there is something in it, and after a trim it is the system's.
TEST(michael, open_places_are_counted_and_not_after_a_trim) {
  if (page_of_tests() > 16 * KiB) GTEST_SKIP() << "a page has several places, and stays for one of them";
  options o = heap_of_michael::usual();
  o.tuned[michael::tuned_spare] = 0;
  heap_of_michael h(o);
  h.free(h.allocate(1000));
  const statistics begun = h.now();
  std::vector<void*> all, stay;
  for (int i = 0; i != 8 * 64 * 15; ++i) all.push_back(h.allocate(1000));
  const statistics full = h.now();
  EXPECT_LE(full.resident, begun.resident + 8 * MiB + 64 * KiB) << "places that nobody had yet are not resident";
  for (std::size_t i = 0; i != all.size(); ++i)
    if (i % (64 * 15) == 0) stay.push_back(all[i]);
    else h.free(all[i]);
  const statistics sparse = h.now();
  EXPECT_LE(sparse.active, begun.active + MiB);
  EXPECT_GE(sparse.cached, full.active - begun.active - MiB);
  EXPECT_GE(sparse.resident, full.resident - MiB);
  EXPECT_GT(h.it.trim(0), 6 * MiB);
  const statistics after = h.now();
  EXPECT_EQ(sparse.active, after.active);
  EXPECT_EQ(0u, after.cached);
  EXPECT_LE(after.resident, begun.resident + MiB);
  EXPECT_EQ(0u, h.it.trim(0)) << "there is nothing left to give";
  for (int i = 0; i != 4 * 64 * 15; ++i) stay.push_back(h.allocate(1000));
  EXPECT_GE(h.now().resident, after.resident + 3 * MiB);
  EXPECT_EQ(0u, h.now().cached);
  for (void* p : stay) h.free(p);
}

// Small blocks are enough, whose malloc and free do not pass where large ones come by.
TEST(michael, a_large_block_that_was_freed_goes_back_while_somebody_allocates) {
  options o = heap_of_michael::usual();
  o.decay_ms = 20;
  heap_of_michael h(o);
  h.free(h.allocate(8 * MiB));
  ASSERT_GE(h.now().cached, 8 * MiB);
  std::vector<void*> all;
  for (int i = 0; i != 1000 && h.now().cached >= 8 * MiB; ++i) {
    for (int n = 0; n != 20; ++n) all.push_back(h.allocate(1000));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_LT(h.now().cached, 8 * MiB);
  for (void* p : all) h.free(p);
}

// M36: what a heap keeps of a class when all is freed: the active superblock and the Partial slot's.
TEST(michael, at_most_two_superblocks_a_heap) {
  heap_of_michael h;
  std::vector<void*> all;
  std::mt19937 random(1);
  for (int round = 0; round != 20; ++round) {
    for (int i = 0; i != 3000; ++i) all.push_back(h.allocate(100));
    std::shuffle(all.begin(), all.end(), random);
    while (all.size() > 100) {
      h.free(all.back());
      all.pop_back();
    }
  }
  for (void* p : all) h.free(p);
  EXPECT_LE(h.now().spans, 2 * h.front().heap_count());
  EXPECT_EQ(0u, h.now().allocated);
}

// M27: a producer and a consumer; what is mapped does not grow with what passed through.
TEST(michael, constant_blowup) {
  heap_of_michael h;
  std::size_t first = 0;
  for (int round = 0; round != 30; ++round) {
    std::vector<void*> all;
    h.in_a_thread([&] {
      for (int i = 0; i != 5000; ++i) all.push_back(h.allocate(64));
    });
    h.in_a_thread([&] {
      for (void* p : all) h.free(p);
    });
    if (round == 1) first = h.now().mapped;
  }
  EXPECT_LE(h.now().mapped, first);
}

TEST(michael, heaps_by_processors_or_as_asked) {
  EXPECT_EQ(std::bit_ceil(std::min(os::processors(), michael::most_heaps)), [] {
    heap_of_michael h;
    h.free(h.allocate(1));
    return h.front().heap_count();
  }());
  for (unsigned asked : {1u, 2u, 5u, 64u}) {
    heap_of_michael h(with(michael::tuned_heaps, asked));
    h.free(h.allocate(1));
    EXPECT_EQ(std::bit_ceil(asked), h.front().heap_count());
  }
  hosted<michael_uniprocessor_sheet> one;
  one.free(one.allocate(1));
  EXPECT_EQ(1u, one.front().heap_count());
}

template <class Sheet>
void churn(const options& o) {
  hosted<Sheet> h(o);
  std::vector<std::thread> threads;
  struct slot {
    std::atomic<unsigned char*> p;
  };
  static slot shared[64];
  for (auto& s : shared) s.p = nullptr;
  for (unsigned t = 0; t != 4; ++t)
    threads.push_back(h.thread([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i != 20'000; ++i) {
        const std::size_t n = 1 + random() % (i % 100 == 0 ? 40'000 : 300);
        auto* p = static_cast<unsigned char*>(h.allocate(n));
        ASSERT_NE(nullptr, p);
        p[0] = p[n - 1] = static_cast<unsigned char>(n);
        if (auto* const q = shared[random() % 64].p.exchange(p)) h.free(q);
      }
    }));
  for (auto& t : threads) t.join();
  for (auto& s : shared)
    if (auto* const q = s.p.exchange(nullptr)) h.free(q);
  h.it.validate();
  EXPECT_EQ(0u, h.now().allocated);
}

TEST(michael, churn) { churn<michael_sheet>(heap_of_michael::usual()); }
TEST(michael, churn_lifo) { churn<michael_lifo_sheet>(heap_of_michael::usual()); }
TEST(michael, churn_keep) { churn<michael_keep_sheet>(heap_of_michael::usual()); }
TEST(michael, churn_one_heap) { churn<michael_uniprocessor_sheet>(heap_of_michael::usual()); }
TEST(michael, churn_four_slots) { churn<michael_sheet>(with(michael::tuned_slots, 4)); }
TEST(michael, churn_small_hyperblocks) { churn<michael_sheet>(with(michael::tuned_hyperblock, 256 * KiB)); }

TEST(michael_misuse, is_told) {
  heap_of_michael h;
  auto* p = static_cast<char*>(h.allocate(100));
  auto* q = static_cast<char*>(h.allocate(100));
  EXPECT_DEATH((h.free(p), h.free(p)), "polder: double free of");
  EXPECT_DEATH(h.free(p + 16), "polder: misaligned free of");
  EXPECT_DEATH(h.free(q + 2 * 112), "polder: invalid free of");  // fresh
  EXPECT_DEATH((std::memset(p, 0x41, 112), h.free(q)), "polder: corrupted .*prefix was overwritten");
  EXPECT_DEATH((h.free(p), std::memset(p, 0x41, 8), h.free(h.allocate(100))), "polder: corrupted free block");
  EXPECT_DEATH(h.it.usable_size(p + 16), "polder: misaligned free");
  h.free(p);
  h.free(q);
}

}  // namespace
}  // namespace polder::heap
