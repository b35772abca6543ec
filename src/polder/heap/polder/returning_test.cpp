// Who takes a step of decay, and who gives memory back on account of the target: one of those that look at the clock at once.
#include <gtest/gtest.h>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/clock_test.hpp>

namespace polder::heap {
namespace {

constexpr std::size_t large = 100'000;

struct timed : served {
  explicit timed(const options& o) : served(o) { current = this; }

  void come_by() { free(allocate(large)); }
  // Comes by, and after each look at the clock another thread does so, too, so much later.
  static void meet() {
    os::own_time::tell(os::told_time.load(order::relaxed) + later);
    current->in_a_thread([] {
      current->come_by();
      theirs = &current->own();
    });
    theirs->swept.store(0, order::relaxed);
    os::after_look = meet;
  }
  void come_by_and_meet(std::uint64_t by) {
    later = by;
    own().beyond = 7;  // and the next looks
    os::after_look = meet;
    void* const p = allocate(large);
    os::after_look = nullptr;
    free(p);
  }

  static inline timed* current;
  static inline lab* theirs;
  static inline std::uint64_t later;
};

TEST(returning, who_looked_at_the_clock_before_another_took_the_step_takes_none) {
  const os::own_time begins(1000);
  timed h({.arena_size = GiB, .decay_ms = 100, .cgroup = false, .background = false});
  h.allocate(16);
  const std::uint32_t seen = h.own().seen.load(order::relaxed);
  os::own_time::tell(2000);
  h.come_by_and_meet(4);
  h.allocate(32);
  EXPECT_EQ(seen + 1, h.own().seen.load(order::relaxed));
}

// What a trim finds in the LAB of a thread that has ended, it sweeps.
TEST(returning, who_looked_at_the_clock_before_another_trimmed_does_not) {
  const os::own_time begins(1000);
  timed h(served::usual);
  h.allocate(16);
  ASSERT_TRUE(h.heap.set_target(1));
  os::own_time::tell(2000);
  h.come_by_and_meet(100);
  EXPECT_EQ(0u, timed::theirs->swept.load(order::relaxed));
  os::own_time::tell(10'000);
  h.come_by();
  EXPECT_EQ(1u, timed::theirs->swept.load(order::relaxed));
}

}  // namespace
}  // namespace polder::heap
