// Blocks of full spans that wait on the shelf of their own LAB for the next malloc of their class.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/clock_test.hpp>
#include <polder/os/ended_thread_test.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/thread_name.hpp>

namespace polder::heap {
namespace {

constexpr std::size_t large = 32 * KiB;
constexpr std::size_t in_a_span = mem::grain_size / large;

struct shelved : served {
  explicit shelved(const options& o = usual) : served(o) {}

  // So many blocks of spans that are full, once another is there.
  std::vector<void*> full(std::size_t n) {
    std::vector<void*> p(n);
    for (void*& b : p) b = allocate(large);
    kept = allocate(large);
    return p;
  }
  bool is_full(const void* p) { return mem::word::is_full(word_of(p)); }

  void* kept = nullptr;
};

TEST(shelf, gives_what_was_freed_last) {
  shelved h;
  const auto p = h.full(4);
  const std::size_t then = h.now().allocated;
  h.free(p[0]);
  h.free(p[3]);
  EXPECT_TRUE(h.is_full(p[0]) && h.is_full(p[3]));
  EXPECT_EQ(then - 2 * large, h.now().allocated);
  EXPECT_EQ(2 * large, h.now().waiting);
  EXPECT_EQ(p[3], h.allocate(large));
  EXPECT_EQ(p[0], h.allocate(large - 1));
  EXPECT_EQ(then, h.now().allocated);
  EXPECT_EQ(0u, h.now().waiting);
  EXPECT_EQ(0u, h.now().remote_frees);
}

TEST(shelf, takes_none_of_a_small_class_or_of_a_span_with_others_free) {
  shelved h;
  std::vector<void*> small(mem::grain_size / KiB + 1);
  for (void*& p : small) p = h.allocate(KiB);
  ASSERT_TRUE(h.is_full(small[0]));
  h.free(small[0]);
  EXPECT_FALSE(h.is_full(small[0]));
  h.free(h.allocate(large));
  EXPECT_TRUE(h.own().shelved.empty());
}

TEST(shelf, is_full_some_time) {
  shelved h;
  const auto p = h.full(shelf::max_blocks + in_a_span);
  for (void* b : p) h.free(b);
  EXPECT_EQ(shelf::max_blocks * large, h.now().waiting);
  EXPECT_TRUE(h.is_full(p[0]));
  EXPECT_EQ(0u, h.owner_of(p.back())) << "its span is empty, and the pool's";
}

TEST(shelf, reads_as_zero_where_that_was_asked) {
  shelved h;
  void* const p = h.full(2)[0];
  std::memset(p, 0x5a, large);
  h.free(p);
  ASSERT_EQ(p, h.heap.allocate_zeroed(large));
  const auto* const bytes = static_cast<const unsigned char*>(p);
  EXPECT_TRUE(std::all_of(bytes, bytes + large, [](unsigned char b) { return b == 0; }));
}

TEST(shelf, serves_realloc_and_what_is_aligned) {
  shelved h;
  const auto p = h.full(2);
  h.free(p[0]);
  EXPECT_EQ(p[0], h.heap.allocate_aligned(4 * KiB, large));
  h.heap.deallocate_aligned_sized(p[0], 4 * KiB, large);
  void* const small = h.allocate(100);
  std::memset(small, 0x5a, 100);
  EXPECT_EQ(p[0], h.heap.reallocate(small, large));
  EXPECT_EQ(0x5a, static_cast<unsigned char*>(p[0])[99]);
  h.heap.deallocate_sized(p[0], large);
  EXPECT_EQ(large, h.now().waiting);
}

TEST(shelf, is_cleared_by_a_trim_and_by_the_end_of_its_thread) {
  shelved h;
  auto p = h.full(2);
  h.free(p[0]);
  h.free(p[1]);
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().waiting);
  EXPECT_EQ(0u, h.owner_of(p[0]));
  h.in_a_thread([&] {
    p = h.full(2);
    h.free(p[0]);
    EXPECT_EQ(large, h.now().waiting);
  });
  EXPECT_EQ(0u, h.now().waiting);
  EXPECT_FALSE(h.is_full(p[0]));
}

TEST(shelf, is_cleared_by_each_step_of_decay) {
  const os::own_time begins(1000);
  shelved h({.arena_size = GiB, .decay_ms = 100, .cgroup = false, .background = false});
  const auto p = h.full(2);
  h.free(p[0]);
  os::own_time::tell(2000);
  h.allocate(16);  // takes a step
  h.allocate(32);  // and notes that there was one
  EXPECT_EQ(0u, h.now().waiting);
  EXPECT_FALSE(h.is_full(p[0]));
}

// Whoever turns the profile on finds that the thread has ended, and leaves the shelf as it is.
TEST(shelf, sends_home_what_another_has_adopted_meanwhile) {
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  served h;
  h.allocate(16);
  constexpr std::size_t n = 10 * KiB;
  std::vector<void*> p(mem::grain_size / n + 1);
  std::uint32_t ended = 0;
  lab* theirs = nullptr;
  std::thread([&] {
    ended = os::own_thread_number();
    for (void*& b : p) b = h.allocate(n);
    h.free(p[0]);
    theirs = &h.own();
  }).join();
  os::await_end(ended);
  h.in_a_thread([&] { h.free(p[1]); });
  ASSERT_EQ(profiling::done, h.heap.start_profile(MiB));
  h.heap.stop_profile();
  ASSERT_FALSE(theirs->shelved.empty());
  EXPECT_EQ(p[1], h.allocate(n));
  ASSERT_EQ(h.own().number, h.owner_of(p[0]));
  h.heap.trim(0);
  EXPECT_TRUE(theirs->shelved.empty());
  EXPECT_EQ(n, h.now().waiting);  // in the inbox
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().waiting);
  EXPECT_TRUE(h.span_of(p[0]).has_free());
}

TEST(shelf, there_is_none_where_nothing_spare_is_kept) {
  for (const options& o : {options{.arena_size = GiB, .decay_ms = 0, .cgroup = false},
                           options{.arena_size = GiB, .cgroup = false, .hardened = true}}) {
    shelved h(o);
    h.free(h.full(2)[0]);
    EXPECT_TRUE(h.own().shelved.empty());
  }
}

TEST(shelf_death, a_block_is_not_freed_again) {
  shelved h;
  void* const p = h.full(2)[0];
  h.free(p);
  EXPECT_DEATH(h.free(p), "double free");
  EXPECT_DEATH(h.in_a_thread([&] { h.free(p); }), "double free");
  EXPECT_DEATH(h.heap.deallocate_sized(p, large), "double free");
  EXPECT_DEATH(static_cast<void>(h.heap.usable_size(p)), "double free");
}

TEST(shelf_death, of_what_was_written_to_is_told) {
  shelved h;
  void* const p = h.full(2)[0];
  h.free(p);
  static_cast<char*>(p)[3] ^= 1;
  EXPECT_DEATH(h.allocate(large), "corrupted");
  EXPECT_DEATH(h.heap.allocate_zeroed(large), "corrupted");
  EXPECT_DEATH(h.heap.trim(0), "corrupted");
  static_cast<char*>(p)[3] ^= 1;
}

TEST(shelf_death, a_size_that_was_never_asked_for_is_told) {
  shelved h;
  void* const p = h.full(2)[0];
  EXPECT_DEATH(h.heap.deallocate_sized(p, 100), "size mismatch");
  EXPECT_DEATH(h.free(static_cast<char*>(p) + 16), "misaligned");
}

}  // namespace
}  // namespace polder::heap
