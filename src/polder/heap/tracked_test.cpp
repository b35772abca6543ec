#include <polder/heap/tracked.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include <polder/heap/in_use_test.hpp>
#include <polder/heap/polder/polder_heap.hpp>

namespace polder::heap {
namespace {

// What a memory checker would be told, kept by block.
class kept_tracker {
 public:
  [[maybe_unused]] static constexpr std::size_t arena_size = 16 * MiB;

  struct told {
    std::size_t asked = 0, held = 0;
    bool zeroed = false;
    int died = 0, resumed = 0;
  };
  static inline std::map<void*, told> all;
  static inline int depth = 0;

  struct quiet {
    quiet() { ++depth; }
    ~quiet() { --depth; }
  };

  void born(void* p, std::size_t n, std::size_t held, bool zeroed) noexcept {
    all[p] = {.asked = n, .held = held, .zeroed = zeroed};
  }
  void shrank(void* p, std::size_t n, std::size_t had, std::size_t held) noexcept {
    EXPECT_EQ(had, all[p].asked);
    EXPECT_EQ(held, all[p].held);
    all[p].asked = n;
  }
  void died(void* p, std::size_t) noexcept { ++all[p].died; }
  void resumed(void* p, std::size_t) noexcept { ++all[p].resumed; }
};

struct refusing_heap : polder_heap<test_host> {
  static inline bool refuses = false;
  void* allocate(std::size_t n) noexcept { return refuses ? nullptr : polder_heap<test_host>::allocate(n); }
};

using heap_type = tracked<refusing_heap, kept_tracker>;

struct watched : in_use<heap_type, lab> {
  static constexpr options usual{.arena_size = GiB, .decay_ms = 1'000'000};

  watched() : in_use(usual) { kept_tracker::all.clear(); }
  ~watched() { EXPECT_EQ(0, kept_tracker::depth); }

  static const kept_tracker::told& told(void* p) { return kept_tracker::all.at(p); }
};

TEST(tracked, a_block_is_as_long_as_was_asked_for) {
  watched h;
  for (std::size_t n : {0, 1, 15, 16, 17, 100, 1008, 1024, 5000, 40'000, 100'000, 3'000'000, 40'000'000}) {
    void* const p = h.allocate(n);
    ASSERT_NE(nullptr, p);
    EXPECT_EQ(n, h.it.usable_size(p));
    EXPECT_EQ(n, h.told(p).asked);
    EXPECT_GE(h.told(p).held, n + 16);
    EXPECT_FALSE(h.told(p).zeroed);
    std::memset(p, 0xff, n);
    EXPECT_EQ(n, h.it.usable_size(p));
    h.free(p);
    EXPECT_EQ(1, h.told(p).died);
  }
}

TEST(tracked, what_is_freed_waits_and_comes_back_wiped) {
  watched h;
  void* const p = h.allocate(100);
  std::memset(p, 0xff, 100);
  h.free(p);
  EXPECT_EQ(0, h.told(p).resumed);
  EXPECT_EQ('\xff', static_cast<char*>(p)[99]);
  for (std::size_t i = 1; i < mem::delay_ring::room; ++i) h.free(h.allocate(8));
  EXPECT_EQ(0, h.told(p).resumed);
  h.free(h.allocate(8));
  EXPECT_EQ(1, h.told(p).resumed);
  EXPECT_EQ(0, static_cast<char*>(p)[99]);
}

TEST(tracked, a_block_too_long_to_wait_comes_back_at_once) {
  watched h;
  void* const p = h.allocate(mem::delay_ring::longest);
  h.free(p);
  EXPECT_EQ(1, h.told(p).died);
  EXPECT_EQ(1, h.told(p).resumed);
}

TEST(tracked, realloc_moves_always) {
  watched h;
  auto* const p = static_cast<char*>(h.allocate(100));
  std::memset(p, 'a', 100);
  auto* const q = static_cast<char*>(h.it.reallocate(p, 101));
  ASSERT_NE(p, q);
  EXPECT_EQ(1, h.told(p).died);
  EXPECT_EQ(101u, h.it.usable_size(q));
  EXPECT_EQ('a', q[99]);
  auto* const r = static_cast<char*>(h.it.reallocate(q, 10));
  EXPECT_EQ('a', r[9]);
  h.free(r);
}

TEST(tracked, realloc_without_memory_shrinks_where_the_block_lies) {
  watched h;
  auto* const p = static_cast<char*>(h.allocate(100));
  std::memset(p, 'a', 100);
  refusing_heap::refuses = true;
  EXPECT_EQ(nullptr, h.it.reallocate(p, 101));
  EXPECT_EQ(100u, h.it.usable_size(p));
  EXPECT_EQ(p, h.it.reallocate(p, 10));
  refusing_heap::refuses = false;
  EXPECT_EQ(10u, h.it.usable_size(p));
  EXPECT_EQ(10u, h.told(p).asked);
  EXPECT_EQ('a', p[9]);
  EXPECT_DEATH(h.it.deallocate_sized(p, 100), "polder: size mismatch in the free of ");
  h.it.deallocate_sized(p, 10);
  EXPECT_EQ(1, h.told(p).died);
}

TEST(tracked, zeroed_aligned_and_in_batches) {
  watched h;
  auto* const z = static_cast<char*>(h.it.allocate_zeroed(70'000));
  EXPECT_TRUE(h.told(z).zeroed);
  EXPECT_EQ(0, z[0] | z[69'999]);
  h.free(z);
  for (std::size_t alignment : {16, 64, 4096, 65536, 1 << 20}) {
    void* const p = h.it.allocate_aligned(alignment, 100);
    EXPECT_TRUE(is_aligned(address(p), alignment));
    EXPECT_EQ(100u, h.it.usable_size(p));
    h.it.deallocate_aligned_sized(p, alignment, 100);
    EXPECT_EQ(1, h.told(p).died);
  }
  void* blocks[10];
  ASSERT_EQ(10u, h.it.allocate_batch(50, 10, blocks));
  for (void* p : blocks) EXPECT_EQ(50u, h.told(p).asked);
  h.it.deallocate_batch(blocks, 10);
  for (void* p : blocks) EXPECT_EQ(1, h.told(p).died);
}

TEST(tracked, too_much_is_refused) {
  watched h;
  EXPECT_EQ(nullptr, h.allocate(PTRDIFF_MAX));
  EXPECT_EQ(nullptr, h.allocate(SIZE_MAX));
  EXPECT_EQ(nullptr, h.it.allocate_zeroed(SIZE_MAX - 4));
  EXPECT_TRUE(kept_tracker::all.empty());
}

TEST(tracked, other_threads_free) {
  watched h;
  std::vector<void*> blocks;
  for (int i = 0; i < 10'000; ++i) blocks.push_back(h.allocate(64));
  h.in_a_thread([&] {
    for (void* p : blocks) h.free(p);
  });
  int back = 0;
  for (void* p : blocks) back += h.told(p).resumed;
  EXPECT_EQ(10'000 - int(mem::delay_ring::room), back);
}

TEST(tracked_deathtest, mistakes_end_in_one_line) {
  watched h;
  auto* const p = static_cast<char*>(h.allocate(100));
  EXPECT_DEATH((h.free(p), h.free(p)), "polder: double free of ");
  EXPECT_DEATH((std::memset(p, 0, h.told(p).held), h.free(p)), "polder: corrupted free block .*overrun");
  EXPECT_DEATH(h.it.deallocate_sized(p, 99), "polder: size mismatch in the free of ");
  EXPECT_DEATH(h.it.deallocate_aligned_sized(p, std::size_t{1} << 40, 100),
               "polder: size mismatch in the free of ");
  EXPECT_DEATH(h.free(p + 16), "polder: ");
  EXPECT_DEATH(h.free(&h), "polder: free of a foreign pointer ");
  h.free(p);
}

}  // namespace
}  // namespace polder::heap
