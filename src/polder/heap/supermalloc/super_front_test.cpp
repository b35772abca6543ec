// Each sheet as a heap: threads, forks, mistakes, memory given back.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <polder/base/some_types_test.hpp>
#include <polder/heap/supermalloc/imagined_test.hpp>
#include <polder/os/forked_test.hpp>

namespace polder::heap::supermalloc {
namespace {

template <class Sheet>
struct super_heaps : testing::Test {};
using all_sheets = some_types<supermalloc_sheet, super1_sheet, super2_sheet, super3_sheet, super4_sheet,
                              super_socket_sheet, super_prefill_sheet>;
TYPED_TEST_SUITE(super_heaps, all_sheets);

TYPED_TEST(super_heaps, blocks_of_all_sizes_do_not_overlap) {
  hosted<TypeParam> h;
  struct live {
    unsigned char* p;
    std::size_t n;
    unsigned char mark;
  };
  std::vector<live> blocks;
  std::mt19937 random(11);
  for (int step = 0; step < 20'000; ++step) {
    if (blocks.size() < 300 && random() % 5 != 0) {
      const std::size_t n = std::size_t{1} << random() % 20;
      const std::size_t size = n + random() % n;
      auto* const p = static_cast<unsigned char*>(h.allocate(size));
      ASSERT_NE(nullptr, p);
      ASSERT_GE(h.it.usable_size(p), size);
      const auto mark = static_cast<unsigned char>(random());
      std::memset(p, mark, size);
      blocks.push_back({p, size, mark});
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      const live b = blocks.back();
      blocks.pop_back();
      ASSERT_EQ(b.mark, b.p[0]);
      ASSERT_EQ(b.mark, b.p[b.n / 2]);
      ASSERT_EQ(b.mark, b.p[b.n - 1]);
      h.free(b.p);
    }
  }
  h.it.validate();
  for (const live& b : blocks) h.free(b.p);
  EXPECT_EQ(0u, h.now().allocated);
}

TYPED_TEST(super_heaps, threads_hand_blocks_to_each_other) {
  hosted<TypeParam> h;
  constexpr unsigned threads = 4, slots = 200, steps = 30'000;
  atomic<std::uintptr_t> shared[slots];
  std::vector<std::thread> crew;
  for (unsigned t = 0; t < threads; ++t)
    crew.push_back(h.thread([&, t] {
      std::mt19937 random(t);
      for (unsigned step = 0; step < steps; ++step) {
        const std::size_t size = 16 + random() % (step % 64 == 0 ? 60'000 : 900);
        auto* const mine = static_cast<unsigned char*>(h.it.allocate(size));
        ASSERT_NE(nullptr, mine);
        mine[0] = mine[size - 1] = static_cast<unsigned char>(size);
        auto* const other = reinterpret_cast<unsigned char*>(
            shared[random() % slots].exchange(reinterpret_cast<std::uintptr_t>(mine), order::acq_rel));
        if (other) h.it.deallocate(other);
      }
    }));
  for (std::thread& t : crew) t.join();
  h.it.validate();
  for (auto& s : shared) h.free(reinterpret_cast<void*>(s.load(order::acquire)));
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_EQ(0u, h.now().threads - 1);
}

TYPED_TEST(super_heaps, a_trim_gives_all_of_it_back) {
  hosted<TypeParam> h;
  std::vector<void*> all;
  for (std::size_t bytes = 0; bytes < 24 * MiB;) {
    const std::size_t size = std::size_t{16} << all.size() % 14;
    all.push_back(h.allocate(size));
    bytes += size;
  }
  h.in_a_thread([&] {
    for (void* p : all) h.free(p);
  });
  const statistics before = h.now();
  EXPECT_GE(before.resident, before.active);
  EXPECT_GE(before.mapped, before.resident);
  EXPECT_GT(h.it.trim(0), 4 * MiB);
  const statistics after = h.now();
  EXPECT_EQ(0u, after.allocated);
  EXPECT_EQ(0u, after.active);
  EXPECT_EQ(0u, after.spans) << "no chunk is left";
  h.it.validate();
}

// Small blocks are enough, whose malloc and free do not pass where large ones come by.
TYPED_TEST(super_heaps, a_large_block_that_was_freed_goes_back_while_somebody_allocates) {
  options o = hosted<TypeParam>::usual();
  o.decay_ms = 20;
  hosted<TypeParam> h(o);
  h.free(h.allocate(100 * MiB));
  h.free(h.allocate(8 * MiB));
  ASSERT_GE(h.now().cached, 8 * MiB);
  std::vector<void*> all;
  for (int i = 0; i != 1000 && h.now().cached >= 8 * MiB; ++i) {
    for (int n = 0; n != 40; ++n) all.push_back(h.allocate(8 * KiB));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_LT(h.now().cached, 8 * MiB);
  for (void* p : all) h.free(p);
}

TYPED_TEST(super_heaps, a_thread_that_ends_leaves_its_blocks_to_others) {
  hosted<TypeParam> h;
  for (int i = 0; i < 200; ++i)
    h.in_a_thread([&] {
      std::vector<void*> mine;
      for (int n = 0; n < 2'000; ++n) mine.push_back(h.it.allocate(200));
      for (void* p : mine) h.it.deallocate(p);
    });
  EXPECT_LT(h.now().spans, 12u) << "what two processors' caches hold, not forty chunks";
}

// ---- fork -------------------------------------------------------------------------------------------------------------

TYPED_TEST(super_heaps, a_child_goes_on_and_so_does_the_parent) {
  hosted<TypeParam> h;
  void* const mine = h.allocate(100);
  atomic<int> stop{0};
  std::thread busy = h.thread([&] {
    while (stop.load(order::relaxed) == 0) {
      std::vector<void*> some;
      for (int i = 0; i < 3'000; ++i) some.push_back(h.it.allocate(64));
      for (void* p : some) h.it.deallocate(p);
    }
  });
  for (int i = 0; i < 20; ++i) {
    const os::ending child = os::forked([&] {
      h.it.after_fork_child();
      for (int n = 0; n < 50'000; ++n) {
        void* const p = h.allocate(64);
        if (!p) return 1;
        if (n % 3 == 0) h.free(p);
      }
      h.free(mine);
      return 0;
    });
    ASSERT_EQ(os::fine, child) << i;
  }
  stop.store(1, order::relaxed);
  busy.join();
  h.free(mine);
}

// Locks may be held by threads that the child does not have.
TEST(super_fork, a_child_whose_locks_were_held_by_others_goes_on) {
  by_hand<super_socket_there> h;
  const unsigned c = size_classes::of(64);
  std::vector<void*> all;
  for (int i = 0; i < 50'000; ++i) all.push_back(h.allocate(0, c));
  const os::ending child = os::forked([&] {
    auto& v = const_cast<vault&>(h.it().vault_of(c));
    if (!v.lock.try_lock(os::thread_mark() + 4)) return 1;  // another thread's mark
    for (std::uint32_t i = 0; i < v.shelf.count; ++i)       // in the middle of something
      v.shelf.lists[i].first = reinterpret_cast<mem::block*>(64);
    h.it().after_fork_child();
    for (int i = 0; i < 200'000; ++i)
      if (h.allocate(0, c) == nullptr) return 2;
    for (void* p : all) h.free(1, p);
    if (h.it().trim(&h.of(1)) == 0) return 3;
    for (int i = 0; i < 50'000; ++i)
      if (h.allocate(2, c) == nullptr) return 4;
    return v.lock.holder() == 0 ? 0 : 5;
  });
  EXPECT_EQ(os::fine, child);
  for (void* p : all) h.free(0, p);
}

TEST(super_fork, what_this_thread_holds_it_keeps) {
  by_hand<super0_there> h;
  const unsigned c = size_classes::of(64);
  const os::ending child = os::forked([&] {
    auto& v = const_cast<vault&>(h.it().vault_of(c));
    os::lock(v.lock);
    const auto taken = v.pages.taken;
    h.it().after_fork_child();
    if (v.lock.holder() != os::thread_mark() || v.pages.taken != taken) return 1;
    os::unlock(v.lock);
    return 0;
  });
  EXPECT_EQ(os::fine, child);
}

// ---- misuse -----------------------------------------------------------------------------------------------------------

TEST(super_misuse, is_told) {
  hosted<supermalloc_sheet> h;
  auto* const p = static_cast<char*>(h.allocate(64));
  auto* const large = static_cast<char*>(h.allocate(300 * KiB));
  EXPECT_DEATH(h.free(p + 16), "polder: misaligned free of ");
  EXPECT_DEATH(h.free(p + 640), "polder: invalid free of ") << "that block was never handed out";
  EXPECT_DEATH(h.free(p + 64 * KiB), "polder: invalid free of ") << "that slice is nobody's";
  EXPECT_DEATH((h.free(p), h.free(p)), "polder: double free of .*block of 64 bytes");
  EXPECT_DEATH((h.free(large), h.free(large)), "polder: double free of ");
  EXPECT_DEATH(h.free(large + 4 * KiB), "polder: misaligned free of ");
  EXPECT_DEATH((h.free(p), h.it.trim(0), h.free(p)), "polder: (invalid free|free of a foreign pointer)");
  EXPECT_DEATH((h.free(p), p[3] ^= 1, h.allocate(64)), "polder: corrupted free block ");
  EXPECT_DEATH(static_cast<void>(h.it.usable_size(p + 16)), "polder: misaligned free of ");
  EXPECT_DEATH((h.free(p), static_cast<void>(h.it.usable_size(p))), "polder: double free of ");
  EXPECT_DEATH(static_cast<void>(h.it.reallocate(p + 16, 60)), "polder: misaligned free of ");
  h.free(p);
  h.free(large);
}

// Tunables are obeyed, and a thread's list is never longer than the others'.
TEST(super_options, lists_are_as_long_as_asked) {
  options o = hosted<super3_sheet>::usual();
  o.tuned[unsigned(asked::thread_list)] = 64 * KiB;
  o.tuned[unsigned(asked::list)] = 32 * KiB;
  hosted<super3_sheet> h(o);
  h.free(h.allocate(16));
  const unsigned c = size_classes::of(64);
  EXPECT_EQ(32 * KiB / 64, h.front().bound(c));
  EXPECT_EQ(32 * KiB / 64, h.front().thread_bound(c));
}

}  // namespace
}  // namespace polder::heap::supermalloc
