#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <vector>

#include "few_superblocks_test.hpp"

namespace polder::heap::michael {
namespace {

constexpr few eight{.capacity = 8, .max_credits = 3, .superblocks = 6, .descriptors = 12};
using small = few_superblocks<eight>;
using anchor = small::descriptor::anchor_type;

TEST(anchor, is_laid_out_as_in_figure_3) {
  static_assert(sizeof(anchor_word<>) == 8 && anchor_word<>::max_blocks == 1024);
  const anchor a(1023, 1022, fill::partial, (std::uint64_t{1} << 42) - 1);
  EXPECT_EQ(1023u, a.avail());
  EXPECT_EQ(1022u, a.count());
  EXPECT_EQ(fill::partial, a.state());
  EXPECT_EQ((std::uint64_t{1} << 42) - 1, a.tag());
  EXPECT_EQ(0u, a.popped(1, 1, fill::full).tag()) << "the tag wraps alone";
  EXPECT_EQ(1022u, a.popped(1, 1022, fill::full).count());
}

TEST(anchor, arrows) {
  using enum fill;
  for (fill from : {active, full, partial, empty}) EXPECT_FALSE(legal(empty, from));
  EXPECT_TRUE(legal(active, full) && legal(active, partial) && legal(full, partial));
  EXPECT_TRUE(legal(partial, active) && legal(partial, full) && legal(partial, empty));
  EXPECT_FALSE(legal(full, active) || legal(full, empty) || legal(active, empty));
}

TEST(active_word, counts_n_as_n_plus_1) {
  alignas(64) static small::descriptor d;
  active_word<small::descriptor> a(&d, 64);
  EXPECT_EQ(63u, a.credits());
  for (unsigned left = 63; left != 0; --left) {
    a = a.reserved();
    EXPECT_EQ(&d, a.descriptor());
    EXPECT_EQ(left - 1, a.credits());
  }
  EXPECT_FALSE(a.reserved());
}

TEST(prefix, tells_lives_apart) {
  alignas(64) static small::descriptor d;
  EXPECT_EQ(life::live, prefix::read(prefix::live(&d), &d, 8, 77));
  EXPECT_EQ(life::fresh, prefix::read(prefix::fresh(1023, 8, 77), &d, 8, 77));
  EXPECT_EQ(life::freed, prefix::read(prefix::freed(1023, 8, 77), &d, 8, 77));
  EXPECT_EQ(life::overwritten, prefix::read(prefix::freed(1023, 8, 77), &d, 24, 77));
  EXPECT_EQ(life::overwritten, prefix::read(0x4141'4141'4141'4141, &d, 8, 77));
  EXPECT_EQ(1023u, prefix::next(prefix::fresh(1023, 8, 77)));
}

// The states of one superblock as its blocks go and come, with at most three credits.
TEST(superblock_heap, walks_every_arrow) {
  small h;
  small::block b[8];
  b[0] = h.malloc();
  small::descriptor& d = h.descriptor_of_block(b[0]);
  auto now = [&] { return d.anchor.load(order::relaxed); };
  EXPECT_EQ(fill::active, now().state());
  EXPECT_EQ(4u, now().count());  // eight, one taken, three promised
  for (int i = 1; i != 4; ++i) b[i] = h.malloc();
  EXPECT_EQ(1u, now().count());  // three promised anew
  EXPECT_EQ(3u, now().tag());
  for (int i = 4; i != 7; ++i) b[i] = h.malloc();
  EXPECT_EQ(0u, now().count());
  EXPECT_EQ(0u, h.heaps[0].active.load(order::relaxed).credits());
  b[7] = h.malloc();
  EXPECT_EQ(fill::full, now().state());
  EXPECT_FALSE(h.heaps[0].active.load(order::relaxed));

  h.free(b[3]);
  EXPECT_EQ(fill::partial, now().state());
  EXPECT_EQ(&d, h.heaps[0].partial[0].load(order::relaxed));
  b[3] = h.malloc();
  EXPECT_EQ(fill::full, now().state()) << "one block reserved, no credits to install";
  h.free(b[3]);
  h.free(b[5]);
  b[3] = h.malloc();
  EXPECT_EQ(fill::active, now().state());
  EXPECT_EQ(0u, h.heaps[0].active.load(order::relaxed).credits());
  b[5] = h.malloc();
  for (auto& one : b) h.free(one);
  EXPECT_EQ(fill::empty, now().state());
  EXPECT_EQ(nullptr, h.heaps[0].partial[0].load(order::relaxed));
  unsigned available = 0;
  h.available.each([&](const small::descriptor& free_one) { available += &free_one == &d; });
  EXPECT_EQ(1u, available);
  EXPECT_EQ(0u, h.places.taken() & 0x3f);
  EXPECT_EQ(0u, h.overwritten);
}

TEST(superblock_heap, a_partial_one_that_is_displaced_goes_to_the_list_and_comes_back_in_its_turn) {
  small h;
  std::vector<small::block> b;
  for (int i = 0; i != 24; ++i) b.push_back(h.malloc());
  for (int i : {0, 8, 16}) h.free(b[i]);  // three partial ones: the last in the slot
  EXPECT_EQ(&h.descriptor_of_block(b[17]), h.heaps[0].partial[0].load(order::relaxed));
  EXPECT_EQ(b[16].w, h.malloc().w);
  EXPECT_EQ(b[0].w, h.malloc().w);  // first in, first out
  EXPECT_EQ(b[8].w, h.malloc().w);
}

TEST(superblock_heap, a_stack_gives_the_last_one_first) {
  few_superblocks<eight, partial_stack> h;
  std::vector<decltype(h)::block> b;
  for (int i = 0; i != 32; ++i) b.push_back(h.malloc());
  for (int i : {0, 8, 16, 24}) h.free(b[i]);
  EXPECT_EQ(b[24].w, h.malloc().w);
  EXPECT_EQ(b[16].w, h.malloc().w);
  for (int i = 1; i != 8; ++i) h.free(b[i]);  // empty, deep in the stack: taken out of the middle
  unsigned listed = 0;
  h.lists[0].each(h, [&](auto&) { ++listed; });
  EXPECT_EQ(1u, listed);
}

TEST(superblock_heap, refuses_when_there_is_no_memory_and_goes_on) {
  small h;
  std::vector<small::block> b;
  while (auto one = h.malloc()) b.push_back(one);
  EXPECT_EQ(48u, b.size());
  EXPECT_FALSE(h.malloc());
  h.free(b[11]);
  EXPECT_EQ(b[11].w, h.malloc().w);
  for (auto& one : b) h.free(one);
  EXPECT_EQ(0u, h.places.taken() & 0x3f);
}

// Section 3.2.6: "no more than half the descriptors in the list are left empty"; and one, if those become empty that were
// moved last.
TEST(partial_queue, at_most_half_are_empty) {
  struct entry {
    atomic<counted> link;
    atomic<std::uint32_t> item;
    plain<std::uint32_t> node;
    std::uint32_t number = 0;
    bool empty = false;
  };
  struct table {
    entry all[202];
    entry& at(std::uint32_t n) { return all[n]; }
  };
  for (unsigned seed = 1; seed != 40; ++seed) {
    static table t;
    new (&t) table;
    for (std::uint32_t i = 0; i != 202; ++i) {
      t.all[i].number = i;
      t.all[i].node.set(i);
    }
    partial_queue q;
    q.begin(t, 201);
    std::mt19937 random(seed);
    const unsigned n = 2 + random() % 199;
    for (std::uint32_t i = 1; i <= n; ++i) q.put(t, t.all[i]);
    for (unsigned step = 0; step != 400; ++step) {
      std::vector<entry*> full;
      unsigned length = 0, empty = 0;
      q.each(t, [&](entry& e) {
        ++length;
        empty += e.empty;
        if (!e.empty) full.push_back(&e);
      });
      ASSERT_LE(empty, length / 2 + 1) << "of " << length << ", seed " << seed;
      if (full.empty()) break;
      // Random ones; or, for the worst, those moved last.
      (seed % 2 ? full[random() % full.size()] : full.back())->empty = true;
      q.remove_empty(
          t, [](const entry& e) { return e.empty; }, [](entry&) {});
    }
  }
}

TEST(descriptor_stack, last_in_first_out_and_none_without_a_slot) {
  struct thing {
    atomic<thing*> next;
  };
  thing a, b;
  descriptor_stack<thing, 1> s;
  EXPECT_EQ(nullptr, s.take());
  s.retire(a);
  s.retire(b);
  EXPECT_EQ(&b, s.take());
  EXPECT_EQ(&a, s.take());
  EXPECT_EQ(nullptr, s.take());
}

TEST(superblock_heap, threads_lose_and_double_nothing) {
  static few_superblocks<few{.capacity = 8, .max_credits = 3, .superblocks = 40, .descriptors = 200}> h;
  constexpr unsigned threads = 4;
  static atomic<std::uint32_t> holders[40][8];
  atomic<std::uint32_t> collisions;
  std::vector<std::thread> all;
  for (unsigned t = 0; t != threads; ++t)
    all.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<decltype(h)::block> mine;
      for (unsigned round = 0; round != 30'000; ++round) {
        if (mine.size() < 40 && random() % 2) {
          if (const auto b = h.malloc(t % 2)) {
            if (holders[b.place][b.index].fetch_add(1, order::relaxed) != 0)
              collisions.fetch_add(1, order::relaxed);
            mine.push_back(b);
          }
        } else if (!mine.empty()) {
          std::swap(mine[random() % mine.size()], mine.back());
          const auto b = mine.back();
          mine.pop_back();
          holders[b.place][b.index].fetch_sub(1, order::relaxed);
          h.free(b);
        }
      }
      for (const auto& b : mine) {
        holders[b.place][b.index].fetch_sub(1, order::relaxed);
        h.free(b);
      }
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(0u, collisions.load(order::relaxed));
  EXPECT_EQ(0u, h.overwritten);
}

}  // namespace
}  // namespace polder::heap::michael
