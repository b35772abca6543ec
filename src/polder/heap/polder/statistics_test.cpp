// What the flagship says about itself: exact when nobody is inside, whatever waits where, and the parts make the whole.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <vector>

#include <polder/heap/polder/served_test.hpp>

namespace polder::heap {
namespace {

using blocks = std::vector<void*>;

constexpr std::size_t size = 256;
constexpr unsigned per_span = unsigned(mem::grain_size / size);

struct told {
  explicit told(served& h) : all(h.heap.read_statistics(by_class.data())) {
    labs.resize(all.labs + 3);
    labs.resize(h.heap.read_labs(1, labs));
  }

  const class_statistics& of(std::size_t bytes) const { return by_class[mem::size_class::stepped::of(bytes) - 1]; }

  std::array<class_statistics, classes::count> by_class;
  statistics all;
  std::vector<lab_statistics> labs;
};

// While nobody is inside: every sum is that of its parts.
void expect_consistent(const told& t) {
  EXPECT_LE(t.all.allocated, t.all.active);
  EXPECT_EQ(t.all.resident, t.all.active + t.all.cached + t.all.metadata);
  EXPECT_LE(t.all.resident, t.all.mapped);
  EXPECT_LE(t.all.mapped, t.all.reserved);
  EXPECT_EQ(t.all.free_not_returned, t.all.cached + t.all.active - t.all.allocated);
  class_statistics sum;
  std::size_t allocated = 0, waiting = 0, out = 0;
  for (const class_statistics& c : t.by_class) {
    sum.spans += c.spans;
    sum.active += c.active;
    allocated += c.allocated * c.block_size;
    waiting += c.waiting * c.block_size;
    out += (c.allocated + c.waiting) * c.block_size;
    EXPECT_EQ(c.spans * mem::grain_size, c.active);
    EXPECT_EQ(c.spans * (mem::grain_size / c.block_size), c.allocated + c.waiting + c.free);
    EXPECT_EQ(c.unallocated, c.active - c.allocated * c.block_size);
  }
  EXPECT_EQ(t.all.spans, sum.spans);
  EXPECT_EQ(t.all.active, sum.active + t.all.large);
  EXPECT_EQ(t.all.allocated, allocated + t.all.large);
  EXPECT_EQ(t.all.waiting, waiting);
  EXPECT_EQ(t.all.labs, t.labs.size());
  lab_statistics labs;
  std::uint64_t threads = 0;
  for (const lab_statistics& l : t.labs) {
    EXPECT_EQ(std::uint64_t(&l - t.labs.data()) + 1, l.number);
    EXPECT_EQ(l.spans * mem::grain_size, l.used + l.free);
    threads += l.thread != 0;
    labs.spans += l.spans;
    labs.used += l.used;
    labs.outbox += l.outbox;
    labs.inbox += l.inbox;
    labs.refills += l.refills;
    labs.remote_frees += l.remote_frees;
    labs.posts += l.posts;
  }
  EXPECT_EQ(t.all.spans, labs.spans);
  EXPECT_EQ(out, labs.used);
  EXPECT_EQ(t.all.refills, labs.refills);
  EXPECT_EQ(t.all.posts, labs.posts);
  EXPECT_LE(labs.remote_frees, t.all.remote_frees);
  EXPECT_LE(threads, t.all.threads);
}

// And what waits is what lies in boxes, where no block is held back.
void expect_consistent_boxes(const told& t) {
  expect_consistent(t);
  std::size_t boxes = 0;
  for (const lab_statistics& l : t.labs) boxes += l.outbox + l.inbox;
  EXPECT_EQ(t.all.waiting, boxes);
}

TEST(statistics, of_an_untouched_heap_are_zero) {
  served h;
  const told t(h);
  EXPECT_EQ(0u, t.all.reserved);
  EXPECT_EQ(0u, t.of(size).spans);
  EXPECT_TRUE(t.labs.empty());
}

TEST(statistics, a_block_in_an_outbox_is_not_allocated) {
  served h;
  void* const p = h.allocate(size);
  h.allocate(size);
  std::atomic<int> turn{0};
  std::thread other = h.thread([&] {
    h.free(p);
    EXPECT_FALSE(h.own().out.empty());
    turn = 1;
    while (turn != 2) std::this_thread::yield();
  });
  while (turn != 1) std::this_thread::yield();
  const told t(h);
  expect_consistent_boxes(t);
  EXPECT_EQ(size, t.all.allocated);
  EXPECT_EQ(size, t.all.waiting);
  EXPECT_EQ(1u, t.of(size).allocated);
  EXPECT_EQ(1u, t.of(size).waiting);
  EXPECT_EQ(0u, t.labs[0].outbox);
  EXPECT_EQ(size, t.labs[1].outbox);
  EXPECT_EQ(1u, t.labs[1].remote_frees);
  EXPECT_EQ(2 * size, t.labs[0].used);
  turn = 2;
  other.join();
}

TEST(statistics, blocks_in_an_inbox_are_not_allocated) {
  served h;
  blocks held(per_span);
  for (void*& p : held) p = h.allocate(size);
  h.allocate(1000);
  h.in_a_thread([&] {
    for (void* p : held) h.free(p);
  });
  ASSERT_FALSE(h.own().in.empty());
  const told t(h);
  expect_consistent_boxes(t);
  EXPECT_EQ(1024u, t.all.allocated);
  EXPECT_EQ(0u, t.of(size).allocated);
  EXPECT_EQ(per_span, t.of(size).waiting);
  EXPECT_EQ(0u, t.of(size).free);
  EXPECT_EQ(held.size() * size, t.labs[0].inbox);
  EXPECT_EQ(per_span, t.all.remote_frees);
  h.heap.trim(0);
  const told after(h);
  expect_consistent_boxes(after);
  EXPECT_EQ(1024u, after.all.allocated);
  EXPECT_EQ(0u, after.all.waiting);
  EXPECT_EQ(0u, after.labs[0].inbox);
}

// Some of them stray: what was posted to one LAB comes home to another.
TEST(statistics, stay_exact_while_spans_change_hands) {
  served h;
  std::size_t held = 0;
  blocks kept;
  for (unsigned round = 0; round != 20; ++round) {
    h.in_a_thread([&] {
      for (unsigned i = 0; i != 50; ++i) {
        const std::size_t n = 16 + (i * 37 + round * 101) % 2000;
        kept.push_back(h.allocate(n));
        held += h.heap.usable_size(kept.back());
      }
    });
    h.in_a_thread([&] {
      for (std::size_t i = 0; i < kept.size(); i += 3) {
        held -= h.heap.usable_size(kept[i]);
        h.free(kept[i]);
        kept[i] = kept.back();
        kept.pop_back();
      }
    });
    const told t(h);
    expect_consistent_boxes(t);
    ASSERT_EQ(held, t.all.allocated);
  }
  for (void* p : kept) h.free(p);
  const told t(h);
  expect_consistent_boxes(t);
  EXPECT_EQ(0u, t.all.allocated);
}

// A thread past its exit allocates in a LAB that it borrows, and frees without any.
TEST(statistics, a_free_without_a_lab_is_exact) {
  served h;
  void* const p = h.allocate(size);
  void* borrowed = nullptr;
  h.in_a_thread([&] {
    test_host::gone = true;
    borrowed = h.heap.allocate(size);
    h.free(p);
  });
  const told t(h);
  expect_consistent_boxes(t);
  EXPECT_EQ(size, t.all.allocated);
  EXPECT_EQ(1u, t.of(size).waiting);
  EXPECT_EQ(1u, t.all.remote_frees);
  EXPECT_EQ(size, t.labs[0].inbox);
  h.free(borrowed);
  EXPECT_EQ(0u, h.now().allocated);
}

TEST(statistics, large_and_huge_blocks_are_in_no_class) {
  served h;
  void* const large = h.allocate(200'000);
  void* const huge = h.allocate(50'000'000);
  void* const small = h.allocate(48);
  const told t(h);
  expect_consistent_boxes(t);
  EXPECT_EQ(h.heap.usable_size(large) + h.heap.usable_size(huge), t.all.large);
  EXPECT_EQ(t.all.large + 48, t.all.allocated);
  for (void* p : {large, huge, small}) h.free(p);
  const told after(h);
  expect_consistent_boxes(after);
  EXPECT_EQ(0u, after.all.allocated);
  EXPECT_EQ(0u, after.all.large);
}

TEST(statistics, full_spans_are_told_by_their_words) {
  served h;
  blocks held(4 * per_span);
  for (void*& p : held) p = h.allocate(size);
  ASSERT_TRUE(mem::word::is_full(h.word_of(held[0])));
  const told t(h);
  expect_consistent_boxes(t);
  EXPECT_EQ(held.size(), t.of(size).allocated);
  for (std::size_t i = 0; i < held.size(); i += 2) h.free(held[i]);
  const told half(h);
  expect_consistent_boxes(half);
  EXPECT_EQ(held.size() / 2, half.of(size).allocated);
  EXPECT_EQ(held.size() / 2 * size, half.of(size).unallocated);
}

TEST(statistics, what_a_hardened_heap_holds_back_waits) {
  served h({.arena_size = GiB, .decay_ms = 1'000'000, .cgroup = false, .hardened = true, .guard_rate = 0});
  void* const p = h.allocate(size);
  h.allocate(size);
  h.free(p);
  const told t(h);
  expect_consistent(t);
  EXPECT_EQ(size, t.all.allocated);
  EXPECT_EQ(1u, t.of(size).waiting);
}

TEST(statistics, labs_are_read_in_parts) {
  served h;
  std::atomic<unsigned> there{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i != 5; ++i)
    threads.push_back(h.thread([&, i] {
      for (unsigned k = 0; k != i + 1; ++k) h.allocate(size);
      ++there;
      while (!over) std::this_thread::yield();
    }));
  while (there != threads.size()) std::this_thread::yield();
  const told t(h);
  expect_consistent_boxes(t);
  std::array<lab_statistics, 2> two;
  EXPECT_EQ(2u, h.heap.read_labs(1, two));
  EXPECT_EQ(t.labs[1].used, two[1].used);
  EXPECT_EQ(2u, h.heap.read_labs(3, two));
  EXPECT_EQ(3u, two[0].number);
  EXPECT_EQ(t.labs[2].used, two[0].used);
  EXPECT_EQ(1u, h.heap.read_labs(5, two));
  EXPECT_EQ(t.labs[4].used, two[0].used);
  EXPECT_EQ(0u, h.heap.read_labs(6, two));
  EXPECT_EQ(0u, h.heap.read_labs(1, {}));
  over = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(statistics, what_threads_have_torn_is_put_in_order) {
  const statistics s =
      settled(statistics{.allocated = 9, .active = 5, .resident = 1, .mapped = 3, .reserved = 2, .metadata = 4});
  EXPECT_EQ(5u, s.allocated);
  EXPECT_EQ(9u, s.resident);
  EXPECT_EQ(9u, s.mapped);
  EXPECT_EQ(9u, s.reserved);
  EXPECT_EQ(9u, s.peak);
  EXPECT_EQ(0u, settled(statistics{.allocated = std::size_t(-1), .active = 5}).allocated);
  EXPECT_EQ(5u, settled(statistics{.allocated = std::size_t(-1), .active = 5}).free_not_returned);
}

TEST(statistics, what_threads_have_torn_of_a_class_is_put_in_order) {
  EXPECT_EQ(36u, settled(class_statistics{.block_size = 16, .allocated = 4, .active = 100}).unallocated);
  EXPECT_EQ(0u, settled(class_statistics{.block_size = 16, .allocated = 7, .active = 100}).unallocated);
}

}  // namespace
}  // namespace polder::heap
