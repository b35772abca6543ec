#include <polder/mem/grain_pool.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <polder/mem/fresh_arena_test.hpp>
#include <polder/os/advice_test.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::mem {
namespace {

using run = grain_pool::run;
using which = grain_pool::which;

bool all_zero(const std::byte* p, std::size_t n) {
  static const std::vector<std::byte> zeroes(grain_size);
  for (; n != 0; p += grain_size, n -= grain_size)
    if (std::memcmp(p, zeroes.data(), grain_size) != 0) return false;
  return true;
}

struct pooled : fresh_arena {
  explicit pooled(std::size_t chunks, chunk_number extra = 0, bool huge_pages = false)
      : fresh_arena(chunks * chunk_size, extra), pool(it, huge_pages) {}
  grain_pool pool;
  trail lately;

  run take(unsigned n, grain_pool::density d = grain_pool::density::sparse) {
    return pool.take(n, lately, no_site, d);
  }
  grain take_and_touch(unsigned n) {
    const run r = take(n);
    for (unsigned i = 0; i != n; ++i) *it.address_of(r.first + i) = std::byte{1};
    return r.first;
  }
  bool give(grain first, unsigned n) {
    lately.note(first, n);
    return pool.give(first, n);
  }
  std::size_t purge(grain_pool::purge_options o) {
    chunk_number from = 0;
    return pool.purge(o, from);
  }
  bool free(grain g) const { return (it.chunk(chunk_of(g)).taken.taken() >> position_in_chunk(g) & 1) == 0; }
  bool dirty(grain g) const {
    return (it.chunk(chunk_of(g)).dirty.load(order::relaxed) >> position_in_chunk(g) & 1) != 0;
  }
  // What the bitmaps say, grain 0 aside.
  grain_pool::counts bits() const {
    grain_pool::counts n;
    for (grain g = 1; g < it.main_open() * grains_per_chunk; ++g) {
      n.taken += !free(g);
      n.dirty += free(g) && dirty(g);
    }
    return n;
  }
  bool counts_right() const {
    const grain_pool::counts said = pool.count(), are = bits();
    return said.taken == are.taken && said.dirty == are.dirty && held() == (are.taken + are.dirty) * grain_size;
  }
  void validate() const {
#if POLDER_CHECK_LEVEL >= 2
    pool.validate();
#endif
  }
  // A purge of all in the middle of which another thread takes a grain.
  grain taken_during_purge(bool lazily) {
    static pooled* here;
    static grain taken;
    here = this;
    os::before_advice = [] {
      trail none;
      taken = here->pool.take(1, none).first;
    };
    purge({.what = which::all, .lazily = lazily});
    return taken;
  }
  // Of the system's memory, beside the tables.
  std::size_t held() const { return committed.used() - (it.table_bytes() - it.whole().front_bytes); }
  // From now on so many grains may be held, those that are among them.
  void allow(std::size_t grains) { committed.set_limit(committed.used() - held() + grains * grain_size); }
  void aim_at(std::size_t grains) { committed.set_target(committed.used() - held() + grains * grain_size); }
  grain grains() const { return grain(it.bytes() >> grain_shift); }
};

// ---- what the comments promise, one by one ----------------------------------------------------------------------------

TEST(grain_pool, the_first_grain_is_never_had_and_fresh_ones_are_zero) {
  pooled p(2);
  std::vector<bool> had(p.grains());
  for (grain i = 1; i != p.grains(); ++i) {
    const run r = p.take(1);
    ASSERT_NE(0u, r.first);
    ASSERT_FALSE(had[r.first]);
    ASSERT_TRUE(r.zero);
    had[r.first] = true;
  }
  EXPECT_EQ(0u, p.take(1).first);
  EXPECT_EQ(p.grains() - 1, p.pool.count().taken);
}

TEST(grain_pool, giving_twice_is_noticed) {
  pooled p(1);
  const grain g = p.take_and_touch(4);
  EXPECT_TRUE(p.pool.give(g + 1, 2));
  EXPECT_FALSE(p.pool.give(g, 4));
  const grain h = p.take_and_touch(1);
  EXPECT_TRUE(p.pool.give(h, 1));
  EXPECT_FALSE(p.pool.give(h, 1));
}

TEST(grain_pool, a_grain_that_is_a_list_is_one_for_its_next_holder_alone) {
  pooled p(1);
  const auto word = [&](grain g) { return p.it.words()[g].load(order::relaxed); };
  const grain g = p.take_and_touch(1);
  EXPECT_TRUE(p.pool.give(g, 1, grain_pool::left::dirty, 0, 7));
  EXPECT_EQ(7u, word(g));
  const run r = p.take(1);
  EXPECT_EQ(g, r.first);
  EXPECT_EQ(7u, r.list);
  EXPECT_EQ(0u, word(g));
  EXPECT_TRUE(p.pool.give(g, 1));
  EXPECT_EQ(0u, p.take(1).list);
}

TEST(grain_pool, a_grain_is_no_list_any_more_once_it_was_part_of_a_run_or_purged) {
  pooled p(1);
  const auto word = [&](grain g) { return p.it.words()[g].load(order::relaxed); };
  const grain g = p.take_and_touch(3);
  const auto give_lists = [&](unsigned n) {
    for (grain i = g; i != g + n; ++i) EXPECT_TRUE(p.pool.give(i, 1, grain_pool::left::dirty, 0, 7));
  };
  give_lists(3);
  EXPECT_EQ(g, p.take(3).first);
  for (grain i = g; i != g + 3; ++i) EXPECT_EQ(0u, word(i));
  EXPECT_TRUE(p.pool.give(g + 2, 1, grain_pool::left::dirty, 0, 7));
  bool zero;
  EXPECT_TRUE(p.pool.extend(g, 2, 1, zero));
  EXPECT_EQ(0u, word(g + 2));
  give_lists(3);
  p.purge({.what = which::all});
  for (grain i = g; i != g + 3; ++i) EXPECT_EQ(0u, word(i));
}

TEST(grain_pool, given_grains_coalesce) {
  pooled p(1);
  const grain first = p.take(60).first;
  ASSERT_NE(0u, first);
  for (grain g = first; g != first + 60; g += 2) EXPECT_TRUE(p.pool.give(g, 1));
  EXPECT_EQ(0u, p.take(6).first);
  for (grain g = first + 1; g != first + 61; g += 2) EXPECT_TRUE(p.pool.give(g, 1));
  EXPECT_NE(0u, p.take(63).first);
}

TEST(grain_pool, dirty_grains_are_taken_before_clean_ones) {
  pooled p(8);
  std::vector<grain> held;
  for (int i = 0; i != 200; ++i) held.push_back(p.take_and_touch(1));
  ASSERT_TRUE(p.pool.give(held[150], 1));
  ASSERT_TRUE(p.pool.give(held[20], 1));
  p.lately.chunk = 7;  // far from either
  std::vector<grain> again = {p.take(1).first, p.take(1).first};
  std::sort(again.begin(), again.end());
  std::vector<grain> expected = {held[20], held[150]};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(expected, again);
  EXPECT_TRUE(p.take(1).zero);
}

TEST(grain_pool, the_hint_says_which_dirty_chunk_and_learns_from_the_answer) {
  pooled p(4);
  std::vector<grain> held;
  while (const grain g = p.take_and_touch(1)) held.push_back(g);
  for (const grain g : {grain(10), grain(70), grain(200)}) ASSERT_TRUE(p.pool.give(g, 1));
  p.lately.chunk = 1;
  EXPECT_EQ(70u, p.take(1).first);
  p.lately.chunk = 2;
  EXPECT_EQ(200u, p.take(1).first);
  EXPECT_EQ(3u, p.lately.chunk);
  EXPECT_EQ(10u, p.take(1).first);  // round to the beginning
}

TEST(grain_pool, what_was_given_last_is_had_first) {
  pooled p(4);
  while (p.take_and_touch(1)) {
  }
  for (const grain g : {grain(200), grain(10), grain(70)}) ASSERT_TRUE(p.give(g, 1));
  ASSERT_TRUE(p.give(100, 3));
  for (const grain g : {grain(70), grain(10), grain(200)}) EXPECT_EQ(g, p.take(1).first);
  EXPECT_EQ(3u, p.lately.chunk);
  EXPECT_EQ(100u, p.take(3).first);
  EXPECT_EQ(0u, p.take(1).first);
}

TEST(grain_pool, what_is_in_use_or_clean_again_is_no_step_back) {
  pooled p(4);
  while (p.take_and_touch(1)) {
  }
  for (const grain g : {grain(10), grain(70), grain(200)}) ASSERT_TRUE(p.give(g, 1));
  trail of_another;
  of_another.chunk = 3;
  EXPECT_EQ(200u, p.pool.take(1, of_another).first);
  p.lately.chunk = 1;
  EXPECT_EQ(70u, p.take(1).first);
  EXPECT_EQ(grain_size, p.purge({.what = which::all}));
  ASSERT_TRUE(p.pool.give(150, 1));
  p.lately.note(10, 1);
  EXPECT_EQ(150u, p.take(1).first) << "dirty before clean";
  EXPECT_EQ(10u, p.take(1).first);
}

TEST(grain_pool, given_clean_it_is_zero_and_not_dirty) {
  pooled p(1);
  const run r = p.take(3);
  EXPECT_TRUE(p.pool.give(r.first, 3, grain_pool::left::zero));
  EXPECT_EQ(0u, p.pool.count().dirty);
  EXPECT_TRUE(p.take(3).zero);
}

TEST(grain_pool, a_hole_that_fits_is_filled_before_a_larger_one_is_cut) {
  pooled p(1);
  const grain all = p.take(63).first;
  for (grain g = all; g != all + 63; ++g) *p.it.address_of(g) = std::byte{1};
  ASSERT_TRUE(p.pool.give(all + 2, 10));   // holes of 10,
  ASSERT_TRUE(p.pool.give(all + 20, 3));   // 3,
  ASSERT_TRUE(p.pool.give(all + 30, 1));   // 1
  ASSERT_TRUE(p.pool.give(all + 40, 20));  // and 20
  EXPECT_EQ(all + 20, p.take(3).first);
  EXPECT_EQ(all + 30, p.take(1).first);
  EXPECT_EQ(all + 2, p.take(10).first);
  EXPECT_EQ(all + 60 - 4, p.take(4).first);  // none fits: runs from above,
  EXPECT_EQ(all + 40, p.take(1).first);      // single grains from below
}

// A buffer for a moment, and something small that stays, in turn.
TEST(grain_pool, single_grains_out_of_what_a_run_left_leave_room_for_another) {
  constexpr unsigned length = grains_per_chunk / 2 + 1, turns = 100;
  pooled p(64);
  for (unsigned i = 0; i != turns; ++i) {
    const grain g = p.take_and_touch(length);
    ASSERT_NE(0u, g);
    ASSERT_TRUE(p.pool.give(g, length));
    ASSERT_NE(0u, p.take_and_touch(1));
  }
  EXPECT_LE(p.it.main_open(), (turns + 2 * length) / (grains_per_chunk - length) + 1);
}

TEST(grain_pool, a_run_that_is_dirty_in_part_before_a_clean_one) {
  pooled p(4);
  const grain all = p.take(63).first;
  for (grain g = all; g != all + 63; ++g) *p.it.address_of(g) = std::byte{1};
  ASSERT_TRUE(p.pool.give(all, 63, grain_pool::left::dirty));
  p.purge({.what = which::all});
  // Clean again, but for one grain.
  const grain g = p.take_and_touch(1);
  ASSERT_TRUE(p.pool.give(g, 1));
  const run r = p.take(8);
  EXPECT_LE(r.first, g);
  EXPECT_GT(r.first + 8, g);
  EXPECT_FALSE(r.zero);
}

TEST(grain_pool, runs_up_to_the_longest_cross_chunks_and_no_longer_than_asked) {
  pooled p(40);
  for (const unsigned n : {65u, 127u, 128u, 129u, 200u, 511u, grain_pool::longest}) {
    const run r = p.take(n);
    ASSERT_NE(0u, r.first) << n;
    EXPECT_TRUE(r.zero);
    EXPECT_EQ(r.first, p.it.find(address(p.it.address_of(r.first))));
    EXPECT_EQ(r.first + n - 1, p.it.find(address(p.it.address_of(r.first)) + n * grain_size - 1));
    const std::size_t taken = p.pool.count().taken;
    EXPECT_TRUE(p.pool.give(r.first, n, grain_pool::left::zero));
    EXPECT_EQ(taken - n, p.pool.count().taken);
  }
}

TEST(grain_pool, extend_takes_what_follows_and_nothing_else) {
  pooled p(3);
  const grain g = p.take(63).first;  // to the end of the first chunk
  ASSERT_EQ(1u, g);
  bool zero = false;
  ASSERT_NE(0u, p.take(1).first);  // opens the second chunk and takes its first grain
  EXPECT_FALSE(p.pool.extend(g, 63, 1, zero));
  ASSERT_TRUE(p.pool.give(64, 1));
  *p.it.address_of(64) = std::byte{1};
  EXPECT_TRUE(p.pool.extend(g, 63, 1, zero));
  EXPECT_FALSE(zero);
  EXPECT_TRUE(p.pool.extend(g, 64, 63, zero));  // the rest of the second chunk
  EXPECT_TRUE(zero);
  EXPECT_FALSE(p.pool.extend(g, 127, 65, zero));  // the third is not that long, or not open
  EXPECT_EQ(127u, p.pool.count().taken);
}

TEST(grain_pool, extra_chunks_serve_runs_and_have_no_neighbours) {
  pooled p(1, 2);
  std::vector<grain> held;
  for (int i = 0; i != 3; ++i) held.push_back(p.take(i == 0 ? 63 : 64).first);
  for (const grain g : held) ASSERT_NE(0u, g);
  EXPECT_EQ(0u, p.take(1).first);
  bool zero;
  for (unsigned n = 0; n != 64; ++n) ASSERT_TRUE(p.pool.give(held[2] + n, 1));
  ASSERT_FALSE(p.pool.extend(held[1], 64, 1, zero));  // the next number lies elsewhere
  EXPECT_EQ(held[2], p.take(64).first);
  ASSERT_TRUE(p.pool.give(held[2] + 10, 54));
  EXPECT_TRUE(p.pool.extend(held[2], 10, 54, zero));
}

TEST(grain_pool, an_extra_chunk_that_is_wholly_free_goes_back_and_its_number_comes_again) {
  pooled p(1, 2);
  while (p.take(1).first != 0) {
  }
  const grain first = p.it.main_chunks() * grains_per_chunk;
  std::byte* const where = p.it.address_of(first);
  for (grain g = first; g != first + 2 * grains_per_chunk; ++g) {
    *p.it.address_of(g) = std::byte{1};
    if (g != first + 100) {
      ASSERT_TRUE(p.pool.give(g, 1, grain_pool::left::dirty, 0, 7));
    }
  }
  p.pool.release_extra_chunks(grain_pool::which::all);
  EXPECT_EQ(0u, p.it.find(address(where)));
  EXPECT_EQ(std::byte{1}, *p.it.address_of(first + 100));
  EXPECT_EQ(std::size_t{grains_per_chunk - 1}, p.pool.count().dirty);
  std::vector<grain> held;
  for (run r = p.take(1); r.first != 0; r = p.take(1)) {
    if (r.zero) {
      ASSERT_TRUE(all_zero(p.it.address_of(r.first), grain_size));
    }
    ASSERT_EQ(r.zero ? 0u : 7u, r.list);
    held.push_back(r.first);
  }
  EXPECT_EQ(std::size_t{2 * grains_per_chunk - 1}, held.size());
  for (const grain g : held) ASSERT_EQ(g, p.it.find(address(p.it.address_of(g))));
}

TEST(grain_pool, an_extra_chunk_that_the_system_does_not_take_back_is_not_called_zero) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              pooled p(1, 1);
              while (p.take(1).first != 0) {
              }
              const grain first = p.it.main_chunks() * grains_per_chunk;
              for (grain g = first; g != first + grains_per_chunk; ++g) {
                *p.it.address_of(g) = std::byte{1};
                if (!p.pool.give(g, 1)) return 1;
              }
              if (!os::answer(SYS_munmap, ENOMEM)) return 2;
              p.pool.release_extra_chunks(grain_pool::which::all);
              unsigned had = 0;
              for (run r = p.take(1); r.first != 0; r = p.take(1)) {
                ++had;
                if (r.zero && !all_zero(p.it.address_of(r.first), grain_size)) return 3;
              }
              return had == grains_per_chunk ? 0 : 4;
            }));
}

TEST(grain_pool, purge_of_the_aged_leaves_what_came_since_the_step_before) {
  pooled p(2);
  std::vector<grain> held;
  for (int i = 0; i != 10; ++i) held.push_back(p.take_and_touch(1));
  for (int i = 0; i != 5; ++i) ASSERT_TRUE(p.pool.give(held[i], 1));
  EXPECT_EQ(0u, p.purge({.what = which::aged}));
  for (int i = 5; i != 8; ++i) ASSERT_TRUE(p.pool.give(held[i], 1));
  EXPECT_EQ(5 * grain_size, p.purge({.what = which::aged}));
  EXPECT_EQ(3u, p.pool.count().dirty);
  const grain again = p.take_and_touch(1);  // in use and back: young again
  ASSERT_TRUE(p.pool.give(again, 1));
  EXPECT_EQ(2 * grain_size, p.purge({.what = which::aged}));
  EXPECT_EQ(grain_size, p.purge({.what = which::aged}));
  EXPECT_EQ(0u, p.purge({.what = which::all}));
}

TEST(grain_pool, purge_of_all_returns_everything_and_it_reads_as_zero) {
  pooled p(2);
  const grain g = p.take(64 + 30).first;
  std::memset(p.it.address_of(g), 0xff, 94 * grain_size);
  ASSERT_TRUE(p.pool.give(g, 94));
  EXPECT_EQ(94 * grain_size, p.purge({.what = which::all}));
  EXPECT_EQ(0u, p.pool.count().dirty);
  EXPECT_TRUE(all_zero(p.it.address_of(g), 94 * grain_size));
  EXPECT_TRUE(p.take(94).zero);
}

TEST(grain_pool, what_is_in_use_is_never_purged) {
  pooled p(1);
  const grain g = p.take_and_touch(20);
  for (unsigned i = 0; i != 20; i += 2) ASSERT_TRUE(p.pool.give(g + i, 1));
  EXPECT_EQ(10 * grain_size, p.purge({.what = which::all}));
  for (unsigned i = 1; i < 20; i += 2) EXPECT_EQ(std::byte{1}, *p.it.address_of(g + i));
}

TEST(grain_pool, purge_stops_at_its_budget_and_goes_on_from_its_cursor) {
  pooled p(6);
  std::vector<grain> held;
  while (const grain g = p.take_and_touch(1)) held.push_back(g);
  for (const grain g : held)
    if (g % 3 == 0) {
      ASSERT_TRUE(p.pool.give(g, 1));
    }
  const std::size_t all = p.pool.count().dirty * grain_size;
  chunk_number from = 0, before = 0;
  std::size_t bytes = 0;
  int steps = 0;
  do {
    before = from;
    const std::size_t now = p.pool.purge({.what = which::all, .budget = 1}, from);
    EXPECT_LE(now, chunk_size);
    bytes += now;
    ++steps;
    ASSERT_TRUE(from == 0 || from > before);
  } while (from != 0);
  EXPECT_EQ(all, bytes);
  EXPECT_GE(steps, 6);
  EXPECT_EQ(0u, p.pool.count().dirty);
}

TEST(grain_pool, left_to_the_kernel_once_and_not_promised_to_be_zero) {
  pooled p(1);
  const grain g = p.take_and_touch(8);
  ASSERT_TRUE(p.pool.give(g, 8));
  EXPECT_EQ(8 * grain_size, p.purge({.what = which::all, .lazily = true}));
  EXPECT_EQ(0u, p.purge({.what = which::all, .lazily = true}));
  EXPECT_FALSE(p.take(8).zero);
  EXPECT_EQ(0u, p.pool.count().dirty);
  ASSERT_TRUE(p.pool.give(g, 8));
  EXPECT_EQ(8 * grain_size, p.purge({.what = which::all, .lazily = true}));  // written again
}

// While it is with the purger nobody sees it, and who searches notes that there is none.
TEST(grain_pool, what_a_purge_leaves_dirty_is_found_though_another_thread_looked_for_it_meanwhile) {
  for (const bool lazily : {true, false}) {
    pooled p(2);
    const grain g = p.take_and_touch(60);
    // Locked memory is not discarded.
    if (!lazily && ::syscall(SYS_mlock, p.it.address_of(g), 60 * grain_size) != 0)
      GTEST_SKIP() << "no lock to be had";
    ASSERT_TRUE(p.pool.give(g, 60));
    const grain other = p.taken_during_purge(lazily);
    EXPECT_TRUE(other != 0 && (other < g || other >= g + 60));
    EXPECT_EQ(60u, p.pool.count().dirty);
    p.validate();
    const run r = p.take(1);
    EXPECT_TRUE(!r.zero && r.first >= g && r.first < g + 60) << r.first;
    ::syscall(SYS_munlock, p.it.address_of(g), 60 * grain_size);
    EXPECT_EQ(59 * grain_size, p.purge({.what = which::all, .lazy_ones = true}));
  }
}

TEST(grain_pool, what_a_purge_leaves_clean_is_found_though_another_thread_looked_beyond_meanwhile) {
  pooled p(4);
  const grain g = p.take_and_touch(63);
  ASSERT_TRUE(p.pool.give(g, 63));
  EXPECT_EQ(1u, chunk_of(p.taken_during_purge(false)));
  EXPECT_EQ(0u, p.pool.count().dirty);
  for (int i = 0; i != 63; ++i) EXPECT_EQ(0u, chunk_of(p.take(1).first)) << i;
}

// What nobody can use is given back, as much as is taken clean beside it.
TEST(grain_pool, spare_memory_is_bounded_whatever_the_sizes_asked_for) {
  pooled p(64);
  std::vector<grain> held;
  for (int i = 0; i != 2048; ++i) held.push_back(p.take_and_touch(1));
  std::sort(held.begin(), held.end());
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (i % 4 == 0) continue;
    ASSERT_TRUE(p.pool.give(held[i], 1));
  }
  std::size_t dirty = p.pool.count().dirty;
  ASSERT_EQ(1536u, dirty);
  for (int i = 0; i != 100; ++i) {
    const run r = p.take(4);  // fits none of the holes
    ASSERT_NE(0u, r.first);
    const std::size_t now = p.pool.count().dirty, in_use = p.pool.count().taken;
    const std::size_t allowed = 16 + std::min(in_use, 1024 + in_use / 4);
    ASSERT_TRUE(now <= allowed || now + 4 <= dirty)
        << i << ": " << now << " of " << dirty << ", allowed " << allowed;
    dirty = now;
  }
}

// ---- huge pages --------------------------------------------------------------------------------------------------------

struct with_huge_pages : pooled {
  explicit with_huge_pages(std::size_t chunks) : pooled(chunks, 0, true) {}
  bool huge(grain g) const { return kind(g) == page_kind::huge; }
  // 0: the kernel has none.
  grain first_run_in_huge_pages(unsigned n) {
    while (it.main_open() * chunk_size < grain_pool::large_heap) take(64);
    for (;;) {
      const grain g = take(n).first;
      if (g == 0 || huge(g)) return g;
    }
  }
  grain take_dense() { return take(1, grain_pool::density::dense).first; }
  page_kind kind(grain g) const { return it.chunk(chunk_of(g)).kind.load(order::relaxed); }
};

TEST(grain_pool, runs_beyond_the_first_chunk_of_a_heap_lie_in_huge_pages_and_single_grains_do_not) {
  if (const char* why = os::lacks_huge_pages()) GTEST_SKIP() << why;
  with_huge_pages p(64);
  p.pool.expect(10);
  EXPECT_FALSE(p.huge(p.take(60).first));
  for (int i = 0; i != 40; ++i) {
    const grain g = p.take(8).first;
    ASSERT_NE(0u, g);
    EXPECT_TRUE(p.huge(g)) << i;
  }
  for (int i = 0; i != 40; ++i) {
    ASSERT_LT(p.it.main_open() * chunk_size, grain_pool::large_heap + 10 * grain_pool::each_thread);
    EXPECT_FALSE(p.huge(p.take(1).first)) << i;
  }
}

TEST(grain_pool, single_grains_that_will_be_dense_lie_in_huge_pages_however_many_threads_there_are) {
  if (const char* why = os::lacks_huge_pages()) GTEST_SKIP() << why;
  with_huge_pages p(64);
  p.pool.expect(1000);
  EXPECT_FALSE(p.huge(p.take(1).first));
  for (int i = 0; i != 300; ++i) EXPECT_TRUE(p.huge(p.take_dense())) << i;
  EXPECT_FALSE(p.huge(p.take(1).first));
}

// The first chunk is used up first: what is mapped beside it would be missed elsewhere.
TEST(grain_pool, where_data_are_limited_dense_ones_open_no_second_chunk_before_the_first_is_full) {
  if (const char* why = os::lacks_huge_pages()) GTEST_SKIP() << why;
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              const rlimit far_away{rlim_t{1} << 50, rlim_t{1} << 50};
              if (::setrlimit(RLIMIT_DATA, &far_away) != 0) return 1;
              with_huge_pages p(64);
              if (p.huge(p.take(1).first)) return 2;
              for (int i = 0; i != 62; ++i)
                if (const grain g = p.take_dense(); p.huge(g) || chunk_of(g) != 0) return 3;
              return p.huge(p.take_dense()) ? 0 : 4;
            }));
}

// Each huge page that is begun brings in all of itself.
grain huge_page_of(grain g) { return g * grain_size / (2 * MiB); }

TEST(grain_pool, a_run_lies_in_the_huge_page_that_was_begun_and_not_across_its_end) {
  if (const char* why = os::lacks_huge_pages()) GTEST_SKIP() << why;
  with_huge_pages p(64);
  p.take(60);
  const grain begun = p.take_dense();
  ASSERT_TRUE(p.huge(begun));
  for (const unsigned n : {2u, 3u, 5u}) {
    const grain g = p.take(n).first;
    EXPECT_EQ(huge_page_of(begun), huge_page_of(g)) << n;
    EXPECT_EQ(huge_page_of(begun), huge_page_of(g + n - 1)) << n;
  }
}

TEST(grain_pool, a_huge_page_is_filled_before_the_next_is_begun) {
  if (const char* why = os::lacks_huge_pages()) GTEST_SKIP() << why;
  with_huge_pages p(64);
  const grain run = p.first_run_in_huge_pages(4);  // from above
  ASSERT_NE(0u, run);
  for (int i = 0; i != 16; ++i) {
    EXPECT_EQ(huge_page_of(run), huge_page_of(p.take_dense())) << i;
    if (i % 5 == 4) {
      EXPECT_EQ(huge_page_of(run), huge_page_of(p.take(4).first)) << i;
    }
  }
  const grain next = p.take_dense();
  EXPECT_NE(huge_page_of(run), huge_page_of(next));
  EXPECT_EQ(huge_page_of(next), huge_page_of(p.take(4).first));
}

// Each kind searches its own chunks, and what it leaves out is not lost to the other.
TEST(grain_pool, dense_and_sparse_grains_in_turn_open_no_more_than_they_fill) {
  if (const char* why = os::lacks_huge_pages()) GTEST_SKIP() << why;
  with_huge_pages p(64);
  p.pool.expect(1000);
  constexpr unsigned each = 600;
  for (unsigned i = 0; i != each; ++i) {
    const grain sparse = p.take(1).first, dense = p.take(1, grain_pool::density::dense).first;
    ASSERT_TRUE(sparse != 0 && dense != 0);
    EXPECT_FALSE(p.huge(sparse)) << i;
  }
  // Opened a quarter of the heap at a time, twice.
  EXPECT_LE(p.it.main_open(), 2 * each / grains_per_chunk * 3 / 2 + 2);
}

TEST(grain_pool, under_a_cap_none_lie_in_huge_pages) {
  with_huge_pages p(64);
  p.pool.expect(1);
  p.allow(2000);
  for (int i = 0; i != 40; ++i) EXPECT_FALSE(p.huge(p.take(20).first)) << i;
}

TEST(grain_pool, single_grains_of_a_heap_that_is_large_for_its_threads_lie_in_huge_pages) {
  if (const char* why = os::lacks_huge_pages()) GTEST_SKIP() << why;
  for (const unsigned threads : {1u, 20u}) {
    with_huge_pages p(64);
    p.pool.expect(threads);
    bool any = false;
    for (int i = 0; i != 63; ++i) {
      const std::size_t opened = p.it.main_open() * chunk_size;
      const grain g = p.take(1).first;
      EXPECT_TRUE(!p.huge(g) || opened + chunk_size >= grain_pool::large_heap + threads * grain_pool::each_thread);
      any |= p.huge(g);
      for (int n = 1; n != 64; ++n) ASSERT_NE(0u, p.take(1).first);
    }
    EXPECT_TRUE(any);
  }
}

// Of a grain's.
long resident_pages(with_huge_pages& p, grain g) {
  std::vector<unsigned char> in(grain_size / os::page_size());
  EXPECT_EQ(0, ::mincore(p.it.address_of(g), grain_size, in.data()));
  return std::count_if(in.begin(), in.end(), [](unsigned char c) { return (c & 1) != 0; });
}

// What a huge page brought in beside a run goes back with it.
TEST(grain_pool, a_purge_of_a_run_in_a_huge_page_drops_all_of_the_page_that_is_free) {
  with_huge_pages p(64);
  const grain g = p.first_run_in_huge_pages(4);
  if (g == 0) GTEST_SKIP() << "no huge pages here";
  const grain kept = p.take(4).first;  // in the same half, and stays
  ASSERT_EQ(g, kept + 4);
  const grain beside = chunk_of(g) * grains_per_chunk + grains_per_chunk / 2;
  ASSERT_TRUE(p.free(beside));
  *p.it.address_of(g) = *p.it.address_of(kept) = std::byte{1};
  if (resident_pages(p, beside) == 0) GTEST_SKIP() << "the kernel had no huge page to give";
  ASSERT_TRUE(p.pool.give(g, 4));
  EXPECT_EQ(4 * grain_size, p.purge({.what = which::all}));
  EXPECT_LE(resident_pages(p, g), 1);  // its mark was looked for
  EXPECT_EQ(0, resident_pages(p, beside));
  EXPECT_EQ(std::byte{1}, *p.it.address_of(kept));
  EXPECT_TRUE(p.counts_right());
}

// A chunk of huge pages: `given` and `kept` in its upper half, `other` in the lower one, where `beside` was never taken.
struct with_both_halves_in_use : with_huge_pages {
  with_both_halves_in_use() : with_huge_pages(64), given(first_run_in_huge_pages(16)) {
    if (given == 0) return;
    kept = take(16).first;
    other = take(16).first;
    beside = other - 16;
    EXPECT_EQ(given, other + grains_per_chunk / 2);
    EXPECT_TRUE(free(beside));
    for (const grain t : {kept, other}) *it.address_of(t) = std::byte{1};
  }
  const char* why_not() {
    if (given == 0) return "no huge pages here";
    return resident_pages(*this, beside) == 0 ? "the kernel had no huge page to give" : nullptr;
  }
  const grain given;
  grain kept = 0, other = 0, beside = 0;
};

TEST(grain_pool, a_purge_drops_what_a_huge_page_brought_in_when_the_chunk_was_split_before) {
  with_both_halves_in_use p;
  if (const char* why = p.why_not()) GTEST_SKIP() << why;
  const auto purge_aged = [&] { return p.purge({.what = which::aged}) + p.purge({.what = which::aged}); };
  ASSERT_TRUE(p.pool.give(p.given, 16));
  EXPECT_EQ(16 * grain_size, purge_aged());
  EXPECT_EQ(page_kind::small_again, p.kind(p.given));
  EXPECT_NE(0, resident_pages(p, p.beside));
  ASSERT_TRUE(p.pool.give(p.other, 16));
  EXPECT_EQ(16 * grain_size, purge_aged());
  EXPECT_EQ(0, resident_pages(p, p.beside));
  EXPECT_TRUE(p.counts_right());
}

TEST(grain_pool, where_all_is_to_go_what_a_huge_page_brought_in_goes_beside_what_is_in_use_too) {
  with_both_halves_in_use p;
  if (const char* why = p.why_not()) GTEST_SKIP() << why;
  ASSERT_TRUE(p.pool.give(p.given, 16));
  EXPECT_EQ(16 * grain_size, p.purge({.what = which::all}));
  EXPECT_EQ(0, resident_pages(p, p.beside));
  for (const grain t : {p.kept, p.other}) EXPECT_EQ(std::byte{1}, *p.it.address_of(t));
  EXPECT_TRUE(p.counts_right());
}

TEST(grain_pool, a_huge_page_is_not_asked_for_again_while_part_of_it_was_given_back_and_part_is_in_use) {
  with_huge_pages p(64);
  const grain g = p.first_run_in_huge_pages(16);
  if (g == 0) GTEST_SKIP() << "no huge pages here";
  const grain kept = p.take(16).first, other = p.take(32).first;
  ASSERT_EQ(chunk_of(g), chunk_of(other));
  for (const grain t : {g, other}) *p.it.address_of(t) = std::byte{1};
  ASSERT_TRUE(p.pool.give(other, 32));
  EXPECT_EQ(32 * grain_size, p.purge({.what = which::all}));  // a whole one
  EXPECT_TRUE(p.huge(g));
  ASSERT_TRUE(p.pool.give(g, 16));
  EXPECT_EQ(0u, p.purge({.what = which::all, .splits = false}));
  EXPECT_TRUE(p.huge(g));
  EXPECT_EQ(16 * grain_size, p.purge({.what = which::all}));
  EXPECT_EQ(page_kind::small_again, p.kind(g));
  EXPECT_EQ(chunk_of(g), chunk_of(p.take(32).first));  // runs and single grains may both have it
  *p.it.address_of(kept) = std::byte{1};
  ASSERT_TRUE(p.pool.give(kept, 16));
  EXPECT_TRUE(p.pool.give(other, 32));
  p.committed.set_limit(GiB);  // under a cap none is asked for
  p.purge({.what = which::all});
  EXPECT_EQ(page_kind::small_again, p.kind(g));
  p.committed.set_limit(budget::none);
  const grain again = p.take(16).first;
  ASSERT_EQ(chunk_of(g), chunk_of(again));
  *p.it.address_of(again) = std::byte{1};
  ASSERT_TRUE(p.pool.give(again, 16));
  p.purge({.what = which::all});
  EXPECT_TRUE(p.huge(g));
  EXPECT_TRUE(p.counts_right());
}

// Neither kind is refused what only the other kind's chunks still have.
TEST(grain_pool, every_grain_can_be_had_whichever_kind_is_asked_for_last) {
  for (const unsigned last : {1u, 2u}) {
    with_huge_pages p(8);
    p.pool.expect(1000);
    while (p.it.main_open() < 8) ASSERT_NE(0u, p.take(3 - last).first);
    std::size_t had = p.pool.count().taken;
    while (p.take(last).first != 0) had += last;
    EXPECT_GE(had + 16 * (last - 1), 8 * grains_per_chunk - 1) << last;
    EXPECT_TRUE(p.counts_right());
  }
}

TEST(grain_pool, a_kernel_without_huge_pages_is_asked_once) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              with_huge_pages p(64);
              if (!os::answer(SYS_madvise, EINVAL)) return 1;
              for (int i = 0; i != 100; ++i)
                if (p.take(16).first == 0) return 2;
              if (!p.it.no_huge_pages()) return 3;
              for (chunk_number c = 0; c != p.it.main_open(); ++c)
                if (p.it.chunk(c).kind.load(order::relaxed) != page_kind::small) return 4;
              return p.it.main_open() > 40 ? 5 : 0;
            }));
}

TEST(grain_pool, a_kernel_that_only_says_it_dropped_the_pages_is_found_out) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  for (const int error : {0, EINVAL, ENOSYS})
    for (const bool lazily : {false, true})
      EXPECT_EQ(os::fine, os::forked([error, lazily] {
                  pooled p(2);
                  const grain g = p.take_and_touch(20);
                  for (unsigned i = 0; i != 20; i += 2)
                    if (!p.pool.give(g + i, 1)) return 1;
                  if (!os::answer(SYS_madvise, error)) return 2;
                  const std::size_t bytes = p.purge({.what = which::all, .lazily = lazily});
                  if (bytes != (lazily && error == 0 ? 10 * grain_size : 0)) return 3;
                  if (!lazily && p.pool.count().dirty != 10) return 4;
                  for (unsigned i = 0; i != 30; ++i) {
                    const run r = p.take(1);
                    if (r.zero && !all_zero(p.it.address_of(r.first), grain_size)) return 5;
                  }
                  for (unsigned i = 1; i < 20; i += 2)
                    if (*p.it.address_of(g + i) != std::byte{1}) return 6;
                  return 0;
                }))
          << "errno " << error << (lazily ? ", lazily" : "");
}

// ---- under a cap, above a target ---------------------------------------------------------------------------------------

TEST(grain_pool, under_a_cap_there_are_so_many_grains_and_dirty_ones_make_room_for_others) {
  pooled p(1);
  const grain first = p.take_and_touch(10);
  p.allow(10);
  EXPECT_EQ(0u, p.take(1).first);
  EXPECT_TRUE(p.counts_right());
  for (unsigned i = 0; i != 8; i += 2) ASSERT_TRUE(p.pool.give(first + i, 1));
  EXPECT_EQ(10 * grain_size, p.held());
  const run one = p.take(1);  // dirty: nothing more of the system's
  EXPECT_FALSE(one.zero);
  EXPECT_EQ(3u, p.pool.count().dirty);
  const run three = p.take(3);
  ASSERT_NE(0u, three.first);
  EXPECT_EQ(10 * grain_size, p.held());
  EXPECT_EQ(0u, p.pool.count().dirty);
  EXPECT_EQ(0u, p.take(1).first);
  EXPECT_TRUE(p.counts_right());
  p.committed.set_limit(budget::none);
  EXPECT_NE(0u, p.take(40).first) << "what was refused is free, and is found";
}

TEST(grain_pool, who_is_refused_leaves_dirty_grains_dirty_and_clean_ones_clean) {
  pooled p(1);
  const grain first = p.take_and_touch(4);
  ASSERT_TRUE(p.pool.give(first + 2, 2));
  p.allow(4);
  EXPECT_EQ(0u, p.take(30).first);
  EXPECT_TRUE(p.counts_right());
  bool zero = false;
  EXPECT_FALSE(p.pool.extend(first, 2, 8, zero));
  EXPECT_TRUE(p.counts_right());
  EXPECT_TRUE(p.pool.extend(first, 2, 2, zero));
  EXPECT_FALSE(p.pool.extend(first, 4, 1, zero));
  EXPECT_TRUE(p.counts_right());
}

TEST(grain_pool, under_a_cap_the_tables_of_a_chunk_count_too) {
  pooled p(2);
  p.committed.set_limit(64 * grain_size);
  unsigned had = 0;
  while (p.take(1).first != 0) ++had;
  EXPECT_EQ(63u, had);
  EXPECT_LE(p.committed.used(), 64 * grain_size);
  EXPECT_LT(63 * grain_size, p.committed.used());
}

TEST(grain_pool, what_the_kernel_may_take_counts_until_it_is_made_to) {
  pooled p(1);
  const grain first = p.take_and_touch(1);
  for (int i = 1; i != 8; ++i) ASSERT_EQ(first + i, p.take_and_touch(1));
  for (int i = 1; i < 8; i += 2) ASSERT_TRUE(p.pool.give(first + i, 1));
  p.purge({.what = which::all, .lazily = true});
  EXPECT_EQ(8 * grain_size, p.held());
  p.allow(8);
  EXPECT_NE(0u, p.take(4).first);
  EXPECT_EQ(8 * grain_size, p.held());
  EXPECT_EQ(0u, p.take(1).first);
  EXPECT_TRUE(p.counts_right());
}

TEST(grain_pool, above_the_target_nothing_dirty_is_kept_and_taking_goes_on) {
  pooled p(1);
  const grain first = p.take_and_touch(6);
  for (unsigned i = 0; i != 6; i += 2) ASSERT_TRUE(p.pool.give(first + i, 1));
  p.aim_at(6);
  EXPECT_NE(0u, p.take(3).first);
  EXPECT_EQ(0u, p.pool.count().dirty);
  EXPECT_EQ(6 * grain_size, p.held());
  EXPECT_NE(0u, p.take(20).first);
  EXPECT_EQ(26 * grain_size, p.held());
  EXPECT_TRUE(p.counts_right());
}

// ---- against a naive model ---------------------------------------------------------------------------------------------

class against_a_model : public testing::TestWithParam<unsigned> {};

struct held_run {
  grain first;
  unsigned n;
  std::uint64_t mark;
};

TEST_P(against_a_model, nothing_is_lost_and_nothing_handed_out_twice) {
  std::mt19937_64 random(GetParam());
  pooled p(24);
  const auto below = [&](unsigned n) { return unsigned(random() % n); };
  std::vector<bool> used(p.grains());
  used[0] = true;
  std::vector<held_run> held;

  const auto mark = [&](held_run& r) {
    r.mark = random() | 1;
    for (unsigned i = 0; i != r.n; ++i) {
      std::byte* const at = p.it.address_of(r.first + i);
      std::memcpy(at, &r.mark, 8);
      std::memcpy(at + 8 * (1 + r.mark % (grain_size / 8 - 1)), &r.mark, 8);
    }
  };
  const auto intact = [&](const held_run& r) {
    for (unsigned i = 0; i != r.n; ++i) {
      const std::byte* const at = p.it.address_of(r.first + i);
      if (std::memcmp(at, &r.mark, 8) != 0) return false;
      if (std::memcmp(at + 8 * (1 + r.mark % (grain_size / 8 - 1)), &r.mark, 8) != 0) return false;
    }
    return true;
  };
  const auto longest_free = [&](bool within_a_chunk, auto&& counts) {
    unsigned longest = 0, now = 0;
    for (grain g = 0; g != p.grains(); ++g) {
      if (within_a_chunk && position_in_chunk(g) == 0) now = 0;
      now = !used[g] && counts(g) ? now + 1 : 0;
      longest = std::max(longest, now);
    }
    return longest;
  };

  for (int step = 0; step != 3'000; ++step) {
    const unsigned dice = below(100);
    if (dice < 45) {
      const unsigned kind = below(10);
      const unsigned n = kind < 6 ? 1 : kind < 9 ? 1 + below(64) : 1 + below(grain_pool::longest);
      p.lately.chunk = below(3) == 0 ? below(24) : p.lately.chunk;
      std::vector<bool> dirty(p.grains());
      for (chunk_number c = 0; c != p.it.main_open(); ++c)
        for (unsigned i = 0; i != grains_per_chunk; ++i) dirty[c * 64 + i] = p.dirty(c * 64 + i);
      const unsigned dirty_room = longest_free(true, [&](grain g) { return dirty[g]; });
      const run r = p.take(n);
      if (r.first == 0) {
        ASSERT_LT(longest_free(n <= grains_per_chunk, [](grain) { return true; }), n) << "step " << step;
        continue;
      }
      unsigned dirty_ones = 0;
      for (grain g = r.first; g != r.first + n; ++g) {
        ASSERT_LT(g, p.grains());
        ASSERT_FALSE(used[g]) << "grain " << g << " a second time in step " << step;
        used[g] = true;
        dirty_ones += dirty[g];
      }
      ASSERT_EQ(dirty_ones == 0, r.zero);
      if (r.zero) {
        ASSERT_TRUE(all_zero(p.it.address_of(r.first), n * grain_size)) << "step " << step;
      }
      if (n <= grains_per_chunk && dirty_room >= n) {
        ASSERT_EQ(n, dirty_ones) << "a dirty run was there, step " << step;
      }
      held.push_back({r.first, n, 0});
      mark(held.back());
    } else if (dice < 50 && !held.empty()) {
      held_run& r = held[below(unsigned(held.size()))];
      const unsigned more = 1 + below(20);
      bool room = true;
      for (grain g = r.first + r.n; g != r.first + r.n + more; ++g)
        room = room && g < p.it.main_open() * grains_per_chunk && !used[g];
      bool zero = false;
      ASSERT_EQ(room, p.pool.extend(r.first, r.n, more, zero));
      if (!room) continue;
      if (zero) {
        ASSERT_TRUE(all_zero(p.it.address_of(r.first + r.n), more * grain_size));
      }
      for (grain g = r.first + r.n; g != r.first + r.n + more; ++g) used[g] = true;
      ASSERT_TRUE(intact(r));
      r.n += more;
      mark(r);
    } else if (dice < 95 && !held.empty()) {
      const std::size_t i = below(unsigned(held.size()));
      held_run r = held[i];
      ASSERT_TRUE(intact(r)) << "step " << step;
      // All of it, or its end.
      const unsigned keep = below(4) == 0 ? below(r.n) : 0;
      ASSERT_TRUE(p.pool.give(r.first + keep, r.n - keep));
      for (grain g = r.first + keep; g != r.first + r.n; ++g) used[g] = false;
      held[i].n = keep;
      if (keep == 0) {
        held[i] = held.back();
        held.pop_back();
      }
    } else {
      const bool all = below(2) == 0;
      chunk_number from = below(2) == 0 ? 0 : below(24);
      const std::size_t budget = below(2) == 0 ? SIZE_MAX : below(64) * grain_size;
      const bool lazily = below(3) == 0;
      const chunk_number began = from;
      const std::size_t before = p.pool.count().dirty;
      const std::size_t bytes =
          p.pool.purge({.what = all ? which::all : which::aged, .lazily = lazily, .budget = budget}, from);
      ASSERT_EQ(before - (lazily ? 0 : bytes / grain_size), p.pool.count().dirty);
      ASSERT_TRUE(from == 0 || from > began);
      if (all && began == 0 && budget == SIZE_MAX) {
        ASSERT_EQ(0u, p.purge({.what = which::all}));
      }
    }
    ASSERT_EQ(std::size_t(std::count(used.begin(), used.end(), true)) - 1, p.pool.count().taken) << "step " << step;
    ASSERT_TRUE(p.counts_right()) << "step " << step;
  }
  for (const held_run& r : held) {
    ASSERT_TRUE(intact(r));
    ASSERT_TRUE(p.pool.give(r.first, r.n));
  }
  EXPECT_EQ(0u, p.pool.count().taken);
  p.purge({.what = which::all});
  for (grain i = 1; i != p.grains(); ++i) ASSERT_NE(0u, p.take(1).first);
  EXPECT_EQ(0u, p.take(1).first);
}

INSTANTIATE_TEST_SUITE_P(grain_pool, against_a_model, testing::Values(1u, 2u, 3u, 4u));

// ---- several threads ---------------------------------------------------------------------------------------------------

// Two that purge the same grains, one lazily, must not leave a mark of theirs in memory that counts as zero.
TEST(grain_pool_stress, purgers_of_two_kinds_leave_zeroes_or_say_so) {
  for (int round = 0; round != 30; ++round) {
    pooled p(8);
    std::vector<grain> held;
    while (const grain g = p.take_and_touch(1)) held.push_back(g);
    for (const grain g : held)
      if (g % 2 == 0) {
        ASSERT_TRUE(p.pool.give(g, 1));
      }
    atomic<int> ready;
    const auto purge = [&](bool lazily) {
      ready.fetch_add(1, order::relaxed);
      while (ready.load(order::relaxed) != 2) std::this_thread::yield();
      for (int i = 0; i != 3; ++i) p.purge({.what = which::all, .lazily = lazily});
    };
    std::thread lazy([&] { purge(true); });
    purge(false);
    lazy.join();
    p.validate();
    ASSERT_TRUE(p.counts_right()) << "round " << round << ": " << p.pool.count().dirty << " for " << p.bits().dirty;
    for (run r = p.take(1); r.first != 0; r = p.take(1)) {
      if (r.zero) {
        ASSERT_TRUE(all_zero(p.it.address_of(r.first), grain_size)) << "round " << round;
      }
    }
    ASSERT_TRUE(p.counts_right());
  }
}

// cap: bytes of grains
void four_threads_conserve_every_grain(std::size_t cap) {
  pooled p(32);
  if (cap != budget::none) p.committed.set_limit(cap);
  const std::unique_ptr<atomic<std::uint32_t>[]> holders(new atomic<std::uint32_t>[p.grains()]);
  atomic<std::uint32_t> doubles, lies, refused;
  const auto give = [&](std::pair<grain, unsigned> r) {
    for (grain g = r.first; g != r.first + r.second; ++g) holders[g].fetch_sub(1, order::relaxed);
    if (!p.pool.give(r.first, r.second)) refused.fetch_add(1, order::relaxed);
  };
  std::vector<std::pair<grain, unsigned>> left[4];
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != 4; ++t)
    threads.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      trail lately;
      lately.chunk = t * 8;
      chunk_number from = 0;
      auto& held = left[t];
      const auto check = [&](grain first, unsigned n, bool zero) {
        for (grain g = first; g != first + n; ++g) {
          if (holders[g].fetch_add(1, order::relaxed) != 0) doubles.fetch_add(1, order::relaxed);
          if (zero && !all_zero(p.it.address_of(g), grain_size)) lies.fetch_add(1, order::relaxed);
          *p.it.address_of(g) = std::byte(t + 1);
          p.it.address_of(g)[random() % grain_size] = std::byte(t + 1);
        }
      };
      for (int step = 0; step != 4'000; ++step) {
        const unsigned dice = unsigned(random() % 100);
        if (dice < 45) {
          const unsigned n = dice < 30 ? 1 : dice < 43 ? 1 + random() % 20 : 1 + random() % 150;
          const run r = p.pool.take(n, lately);
          if (p.committed.used() > cap) lies.fetch_add(1, order::relaxed);
          if (r.first == 0) continue;
          check(r.first, n, r.zero);
          held.push_back({r.first, n});
        } else if (dice < 50 && !held.empty()) {
          auto& r = held[random() % held.size()];
          bool zero = false;
          if (!p.pool.extend(r.first, r.second, 2, zero)) continue;
          check(r.first + r.second, 2, zero);
          r.second += 2;
        } else if (dice < 96 && !held.empty()) {
          std::swap(held[random() % held.size()], held.back());
          give(held.back());
          lately.note(held.back().first, held.back().second);
          held.pop_back();
        } else {
          p.pool.purge({.what = dice == 96 ? which::aged : which::all, .lazily = dice >= 98, .budget = MiB}, from);
        }
      }
    });
  for (auto& t : threads) t.join();
  p.validate();
  for (const auto& held : left)
    for (const auto& r : held) give(r);
  EXPECT_EQ(0u, doubles.load(order::relaxed));
  EXPECT_EQ(0u, lies.load(order::relaxed));
  EXPECT_EQ(0u, refused.load(order::relaxed));
  EXPECT_EQ(0u, p.bits().taken);
  // The figures that the bound on spare memory steers by are exact when nobody moves: no purge has counted twice.
  EXPECT_EQ(0u, p.pool.count().taken);
  EXPECT_EQ(p.bits().dirty, p.pool.count().dirty);
  EXPECT_TRUE(p.counts_right());
}

TEST(grain_pool_stress, four_threads_conserve_every_grain) { four_threads_conserve_every_grain(budget::none); }
TEST(grain_pool_stress, four_threads_conserve_every_grain_under_a_cap) {
  four_threads_conserve_every_grain(400 * grain_size);
}

}  // namespace
}  // namespace polder::mem
