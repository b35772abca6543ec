#include <polder/heap/polder/polder_heap.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/heap/polder/served_test.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/asks_for_huge_pages_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/memory_used_test.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap {
namespace {

using blocks = std::vector<void*>;
using os::asks_for_huge_pages;

void expect_ordered(const statistics& s) {
  EXPECT_LE(s.allocated, s.active);
  EXPECT_LE(s.active, s.resident);
  EXPECT_LE(s.resident, s.mapped);
  EXPECT_LE(s.mapped, s.reserved);
}

bool resident(const void* p) {
  unsigned char in = 0;
  return ::mincore(const_cast<void*>(p), 1, &in) == 0 && (in & 1) != 0;
}

bool is_zero(const void* p, std::size_t n) {
  const auto* const bytes = static_cast<const unsigned char*>(p);
  return n == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, n - 1) == 0);
}

// ---- life ------------------------------------------------------------------------------------------------------------

TEST(polder_heap, begins_with_its_first_block) {
  served h;
  EXPECT_EQ(0u, h.now().reserved);
  EXPECT_EQ(0, test_host::installations);
  h.free(nullptr);
  void* const p = h.allocate(1);
  ASSERT_NE(nullptr, p);
  EXPECT_EQ(1, test_host::installations);
  EXPECT_TRUE(h.heap.owns(p));
  EXPECT_FALSE(h.heap.owns(&h));
  EXPECT_EQ(1u, h.now().labs);
  EXPECT_EQ(1u, h.now().threads);
  EXPECT_EQ(GiB, h.heap.effective_options().arena_size);
  expect_ordered(h.now());
  h.free(p);
}

TEST(polder_heap, every_size_is_aligned_large_enough_and_nobody_elses) {
  served h;
  std::vector<std::pair<unsigned char*, std::size_t>> held;
  for (std::size_t n = 0; n < 40'000; n += n < 1100 ? 1 : 97) {
    auto* const p = static_cast<unsigned char*>(h.allocate(n));
    ASSERT_NE(nullptr, p);
    ASSERT_TRUE(is_aligned(address(p), min_alignment)) << n;
    ASSERT_GE(h.heap.usable_size(p), n);
    std::memset(p, int(n), h.heap.usable_size(p));
    held.push_back({p, n});
  }
  for (const auto& [p, n] : held) {
    ASSERT_EQ((unsigned char)(n), p[0]);
    ASSERT_EQ(0, std::memcmp(p, p + 1, h.heap.usable_size(p) - 1)) << n;
    h.free(p);
  }
  EXPECT_EQ(0u, h.now().allocated);
}

// ---- where the next block comes from ---------------------------------------------------------------------------------

constexpr std::size_t size = 1024;
constexpr unsigned per_span = unsigned(mem::grain_size / size);

TEST(refill, takes_the_whole_of_a_span_in_address_order_before_another) {
  served h;
  auto* const first = static_cast<std::byte*>(h.allocate(size));
  for (unsigned i = 1; i != per_span; ++i) ASSERT_EQ(first + i * size, h.allocate(size));
  EXPECT_EQ(1u, h.now().spans);
  EXPECT_NE(h.grain_of(first), h.grain_of(h.allocate(size)));
  EXPECT_EQ(2u, h.now().spans);
}

TEST(refill, touches_a_span_a_page_at_a_time) {
  served h;
  void* const p = h.allocate(size);
  EXPECT_EQ(4096u, h.span_of(p).bumped);
  for (unsigned i = 1; i != 4; ++i) h.allocate(size);
  EXPECT_EQ(4096u, h.span_of(p).bumped);
  h.allocate(size);
  EXPECT_EQ(8192u, h.span_of(p).bumped);
}

TEST(refill, the_block_freed_last_comes_back_first) {
  served h;
  blocks held;
  for (int i = 0; i != 4; ++i) held.push_back(h.allocate(size));
  h.free(held[2]);
  h.free(held[0]);
  EXPECT_EQ(held[0], h.allocate(size));
  EXPECT_EQ(held[2], h.allocate(size));
}

TEST(refill, a_partial_span_before_a_fresh_one) {
  served h;
  blocks held;
  for (unsigned i = 0; i != 3 * per_span; ++i) held.push_back(h.allocate(size));
  EXPECT_EQ(3u, h.now().spans);
  void* const b = held[5];
  h.free(b);
  EXPECT_EQ(b, h.allocate(size));
  EXPECT_EQ(3u, h.now().spans);
  EXPECT_NE(h.grain_of(b), h.grain_of(h.allocate(size)));
  EXPECT_EQ(4u, h.now().spans);
}

TEST(refill, a_full_span_comes_back_on_its_first_free) {
  served h;
  blocks held;
  for (unsigned i = 0; i != per_span + 1; ++i) held.push_back(h.allocate(size));
  EXPECT_TRUE(mem::word::is_full(h.word_of(held[0])));
  EXPECT_FALSE(mem::word::is_full(h.word_of(held[per_span])));
  h.free(held[7]);
  EXPECT_FALSE(mem::word::is_full(h.word_of(held[0])));
  EXPECT_EQ(h.span_of(held[0]).state, mem::span_state::partial);
  EXPECT_EQ(h.grain_of(held[0]), h.own().partial[h.span_of(held[0]).cls].first);
  h.free(held[8]);  // by the fast path now
  EXPECT_EQ(per_span - 2, h.span_of(held[0]).used);
}

TEST(refill, what_others_freed_before_a_fresh_span) {
  served h;
  blocks held;
  for (unsigned i = 0; i != per_span; ++i) held.push_back(h.allocate(size));
  h.in_a_thread([&] {
    for (void* b : held) h.free(b);
  });
  const std::uint64_t spans = h.now().spans;
  std::set<void*> again;
  for (unsigned i = 0; i != per_span; ++i) again.insert(h.allocate(size));
  EXPECT_EQ(std::set<void*>(held.begin(), held.end()), again);
  EXPECT_EQ(spans, h.now().spans);
}

// Full spans of small blocks: of the class more than so many that some may be opened early.
struct all_full : served {
  static constexpr std::size_t small = 256;
  static constexpr unsigned in_one = unsigned(mem::grain_size / small), spans = 32, early = spans / 16;
  static constexpr unsigned enough = in_one / 32;  // free blocks, for which a partial span is worth a visit
  blocks held;

  all_full() {
    for (unsigned i = 0; i != spans * in_one; ++i) held.push_back(allocate(small));
    EXPECT_EQ(spans, now().spans);
  }
  void free_of(unsigned span, unsigned count) {
    for (unsigned i = 0; i != count; ++i) free(held[span * in_one + i]);
  }
};

TEST(refill, a_partial_span_that_is_worth_a_visit_before_a_fresh_one) {
  all_full h;
  h.free_of(3, h.enough);
  EXPECT_EQ(h.held[3 * h.in_one + h.enough - 1], h.allocate(h.small));
  EXPECT_EQ(h.spans, h.now().spans);
}

TEST(refill, some_fresh_spans_before_partial_ones_that_are_nearly_full) {
  all_full h;
  unsigned next = 3;
  for (unsigned early = 1; early <= h.early; ++early) {
    h.free_of(next++, h.enough - 1);
    for (unsigned i = 0; i != h.in_one; ++i) h.allocate(h.small);
    EXPECT_EQ(h.spans + early, h.now().spans);
  }
  // So many and no more, as long as there are partial ones.
  for (unsigned i = 0; i != h.early * (h.enough - 1); ++i) h.allocate(h.small);
  EXPECT_EQ(h.spans + h.early, h.now().spans);
  h.free_of(next, 1);
  EXPECT_EQ(h.held[next * h.in_one], h.allocate(h.small));
  // When there was none, it begins anew.
  for (unsigned i = 0; i != h.in_one; ++i) h.allocate(h.small);
  EXPECT_EQ(h.spans + h.early + 1, h.now().spans);
  h.free_of(++next, 1);
  EXPECT_NE(h.held[next * h.in_one], h.allocate(h.small));
  EXPECT_EQ(h.spans + h.early + 2, h.now().spans);
  h.validate();
}

TEST(refill, a_partial_span_before_a_fresh_one_where_memory_is_short) {
  all_full h;
  h.heap.set_target(MiB);
  h.free_of(3, 1);
  EXPECT_EQ(h.held[3 * h.in_one], h.allocate(h.small));
  EXPECT_EQ(h.spans, h.now().spans);
}

TEST(refill, is_rare_where_a_set_of_blocks_neither_grows_nor_shrinks) {
  all_full h;
  std::minstd_rand random(1);
  constexpr unsigned times = 50'000;
  const auto replace = [&] {
    const std::uint64_t before = h.now().refills;
    for (unsigned i = 0; i != times; ++i) {
      void*& one = h.held[random() % h.held.size()];
      h.free(one);
      one = h.allocate(h.small);
    }
    return h.now().refills - before;
  };
  replace();
  EXPECT_LT(replace(), times / 8);
  EXPECT_LE(h.now().spans, h.spans + h.early);
}

// Of large blocks a span has few, so that many are full: who replaces one has the block back that was freed, without a refill.
TEST(refill, there_is_none_where_large_blocks_are_replaced_one_by_one) {
  constexpr std::size_t large = 20'000, count = 90;
  served h;
  blocks held;
  for (std::size_t i = 0; i != count; ++i) held.push_back(h.allocate(large));
  while (h.own().hot[mem::size_class::stepped::of(large)]->has_free()) held.push_back(h.allocate(large));
  const std::uint64_t refills = h.now().refills;
  for (std::size_t i = 0; i != held.size(); ++i) {
    void* const p = held[i * 7 % held.size()];
    h.free(p);
    EXPECT_EQ(p, h.allocate(large));
  }
  EXPECT_GE(refills + 2, h.now().refills);
}

// Of the blocks that go home together some have no room for signposts (mem/signposts.hpp).
TEST(remote_frees, of_small_and_smallest_blocks_write_into_no_other) {
  served h;
  blocks freed, live;
  for (unsigned i = 0; i != 1024; ++i) {
    freed.push_back(h.allocate(i % 3 == 0 ? 16 : 48));
    live.push_back(std::memset(h.allocate(16), 0x5a, 16));
  }
  h.in_a_thread([&] {
    for (void* p : freed) h.free(p);
  });
  unsigned char as_it_was[16];
  std::memset(as_it_was, 0x5a, sizeof as_it_was);
  for (void* p : live) ASSERT_EQ(0, std::memcmp(as_it_was, p, sizeof as_it_was));
}

// ---- empty spans -----------------------------------------------------------------------------------------------------

TEST(empty_span, goes_to_the_pool_in_the_very_free_that_empties_it) {
  served h;
  blocks held;
  for (unsigned i = 0; i != 2 * per_span; ++i) held.push_back(h.allocate(size));
  ASSERT_EQ(2u, h.now().spans);
  const std::uint64_t refills = h.now().refills;
  for (unsigned i = 0; i != per_span - 1; ++i) h.free(held[i]);
  EXPECT_EQ(2u, h.now().spans);
  EXPECT_NE(0u, h.word_of(held[0]));
  h.free(held[per_span - 1]);
  EXPECT_EQ(1u, h.now().spans);
  EXPECT_EQ(0u, h.owner_of(held[0]));
  EXPECT_EQ(refills, h.now().refills);
  // Any class may have it, and a large block as well.
  void* const other = h.allocate(48);
  EXPECT_EQ(h.grain_of(held[0]), h.grain_of(other));
}

// Two spans that ran empty, side by side, and one that is hot. `held`: what the first held, which was the last to run empty, in the order
// of the frees.
struct emptied : served {
  blocks held;
  void* more = nullptr;

  emptied() {
    blocks both;
    for (unsigned i = 0; i != 2 * per_span; ++i) both.push_back(allocate(size));
    more = allocate(size);
    held.assign(both.begin(), both.begin() + per_span);
    for (unsigned i = per_span; i != 2 * per_span; ++i) free(both[i]);
    for (void* p : held) free(p);
    EXPECT_EQ(1u, now().spans);
    EXPECT_EQ(grain_of(held[0]), grain_of(held.back()));
    EXPECT_EQ(grain_of(held[0]) + 1, grain_of(both.back()));
  }
  // Uses what is left of the span that is hot.
  void fill() {
    while (span_of(more).bumped != span_of(more).usable || span_of(more).has_free()) allocate(size);
  }
};

TEST(empty_span, is_a_list_still_for_whoever_has_its_class_next) {
  emptied h;
  h.fill();
  const std::uint64_t refills = h.now().refills;
  for (unsigned i = per_span; i-- != 0;) EXPECT_EQ(h.held[i], h.allocate(size));  // last freed first
  EXPECT_EQ(refills + 1, h.now().refills);
  for (void* p : h.held) h.free(p);
  h.heap.trim(0);
}

// Each malloc would wait for its block where the list leads to and fro; in the order in which blocks lie it does not.
TEST(empty_span, is_threaded_anew_where_blocks_were_freed_out_of_order) {
  served h;
  blocks held;
  for (unsigned i = 0; i != per_span; ++i) held.push_back(h.allocate(size));
  void* const more = h.allocate(size);
  while (h.span_of(more).bumped != h.span_of(more).usable || h.span_of(more).has_free()) h.allocate(size);
  static_assert(per_span % 7 != 0);
  for (const unsigned stride : {7u, 1u}) {  // the second time in order
    for (unsigned i = 0, k = 0; i != per_span; ++i, k = (k + stride) % per_span) h.free(held[k]);
    blocks next;
    for (unsigned i = 0; i != per_span; ++i) next.push_back(h.allocate(size));
    EXPECT_EQ(held.front(), stride == 7 ? next.front() : next.back());
    EXPECT_EQ(held.back(), stride == 7 ? next.back() : next.front());
  }
}

// A list that does not lead where it should is left to malloc, which tells of it.
TEST(empty_span, is_not_followed_where_a_free_block_was_written_to) {
  emptied h;
  h.fill();
  auto& third = *static_cast<mem::block*>(h.held[per_span - 3]);
  const mem::block was = third;
  std::memset(&third, 1, sizeof third);
  EXPECT_EQ(h.held[per_span - 1], h.allocate(size));
  EXPECT_EQ(h.held[per_span - 2], h.allocate(size));
  EXPECT_EQ(aborted, mistaken([&] { h.allocate(size); }));
  third = was;
}

TEST(empty_span, in_another_thread_too) {
  emptied h;
  h.in_a_thread([&] {
    EXPECT_EQ(h.held.back(), h.allocate(size));
    EXPECT_EQ(h.held[per_span - 2], h.allocate(size));
  });
}

TEST(empty_span, is_none_for_another_class) {
  emptied h;
  std::set<void*> had;
  for (unsigned i = 0; i != per_span; ++i) EXPECT_TRUE(had.insert(h.allocate(2 * size)).second);
  EXPECT_EQ(1u, had.count(h.held[0]));
  h.fill();
  had.clear();
  for (unsigned i = 0; i != 2 * per_span; ++i) EXPECT_TRUE(had.insert(h.allocate(size)).second);
}

// What was written over between is no list any more, however it came to be somebody's: as the first or a later grain of a run, as what
// a run grew into, or not at all.
TEST(empty_span, is_none_after_a_run) {
  for (const std::size_t grains : {1, 2}) {
    emptied h;
    void* const run = h.allocate(grains * mem::grain_size);
    std::memset(run, 0x5a, grains * mem::grain_size);
    if (grains == 1) {  // it grows by one
      void* const grown = h.heap.reallocate(run, 2 * mem::grain_size);
      ASSERT_EQ(run, grown);
      std::memset(grown, 0x5a, 2 * mem::grain_size);
    }
    EXPECT_EQ(h.grain_of(h.held[0]), h.grain_of(run));
    h.in_a_thread([&] { h.free(run); });  // which keeps it no longer than it lives
    h.fill();
    std::set<void*> had;
    for (unsigned i = 0; i != 2 * per_span; ++i) EXPECT_TRUE(had.insert(h.allocate(size)).second);
    EXPECT_EQ(1u, had.count(h.held[0]));
  }
}

// Nor does a large block look like a free one, which realloc would make of it what is freed then.
TEST(empty_span, leaves_no_key_in_a_run) {
  emptied h;
  auto* const run = static_cast<mem::block*>(h.allocate(2 * mem::grain_size));
  EXPECT_EQ(h.grain_of(h.held[0]), h.grain_of(run));
  EXPECT_FALSE(links::fit(run, h.own().secret));
  h.free(h.heap.reallocate(run, 20'000));
  auto* const huge = static_cast<std::byte*>(h.allocate(40 * MiB));
  std::memcpy(huge, h.held[1], size);
  h.free(huge);
  EXPECT_FALSE(links::fit(static_cast<mem::block*>(h.allocate(40 * MiB)), h.own().secret));
}

TEST(empty_span, is_none_after_a_purge) {
  emptied h;
  std::memset(h.more, 1, size);
  h.heap.trim(0);
  EXPECT_EQ(0u, h.word_of(h.held[0]));
  h.fill();
  void* const p = h.heap.allocate_zeroed(size);
  EXPECT_EQ(h.held[0], p);
  for (unsigned i = 0; i != size; ++i) EXPECT_EQ(0, static_cast<char*>(p)[i]);
}

// Who tries to give it back writes there, and the system may keep it: here it says that it does as it is told.
TEST(empty_span, is_none_where_the_system_keeps_what_was_given_back) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              options at_once = served::usual;
              at_once.decay_ms = 0;
              served h(at_once);
              if (!os::answer(SYS_madvise, 0)) return 1;
              blocks held;
              for (unsigned i = 0; i != 2 * per_span; ++i) held.push_back(h.allocate(size));
              for (void* p : held) h.free(p);
              std::set<void*> out;
              for (unsigned i = 0; i != 3 * per_span; ++i)
                if (!out.insert(h.allocate(size)).second) return 2;
              return 0;
            }));
}

TEST(empty_span, what_is_written_to_it_is_noticed) {
  EXPECT_EQ(aborted, mistaken([] {
              emptied h;
              std::memset(h.held.back(), 0x5a, size);
              h.fill();
              h.allocate(size);
            }));
}

TEST(empty_span, a_block_of_it_is_not_freed_again) {
  for (const bool elsewhere : {false, true}) {
    EXPECT_EQ(aborted, mistaken([=] {
                emptied h;
                const auto again = [&] { h.free(h.held[3]); };
                if (elsewhere) h.in_a_thread(again);
                else again();
              }));
  }
}

TEST(empty_span, the_hot_one_stays_until_another_is_hot) {
  served h;
  void* const p = h.allocate(size);
  h.free(p);
  EXPECT_EQ(1u, h.now().spans);
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_EQ(p, h.allocate(size));
  h.free(p);
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().spans);
}

TEST(empty_span, from_full_in_one_free_where_the_class_has_few_blocks) {
  served h;
  void* const a = h.allocate(32 * KiB);
  void* const b = h.allocate(32 * KiB);
  void* const c = h.allocate(32 * KiB);  // the first span is full and set aside
  ASSERT_TRUE(mem::word::is_full(h.word_of(a)));
  h.own().shelved = {};  // has no room
  h.free(a);
  EXPECT_EQ(2u, h.now().spans);
  h.free(b);
  EXPECT_EQ(1u, h.now().spans);
  h.free(c);
}

TEST(empty_span, everything_freed_nothing_is_held) {
  served h;
  std::minstd_rand random(3);
  blocks held;
  for (int i = 0; i != 20'000; ++i) {
    if (random() % 3 != 0 || held.empty()) {
      held.push_back(h.allocate(random() % 3000));
    } else {
      std::swap(held[random() % held.size()], held.back());
      h.free(held.back());
      held.pop_back();
    }
  }
  for (void* p : held) h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_LE(h.now().spans, classes::count + shelf::max_blocks);  // a hot one a class, and those of shelved blocks
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().spans);
  EXPECT_EQ(0u, h.now().cached);
  EXPECT_EQ(0u, h.now().active);
  EXPECT_EQ(0u, h.own().owned_count);
}

// ---- the other ways to allocate ----------------------------------------------------------------------------------------

TEST(polder_heap, calloc_is_zero_from_fresh_and_from_used_memory) {
  served h;
  for (int round = 0; round != 3; ++round) {
    std::vector<std::pair<void*, std::size_t>> held;
    for (std::size_t n = 0; n < 6'000'000; n = n < 64 ? n + 1 : n * 5 / 4) {
      for (int i = 0; i != (n < 40'000 ? 20 : 2); ++i) {
        void* const p = h.heap.allocate_zeroed(n);
        ASSERT_NE(nullptr, p);
        ASSERT_TRUE(is_zero(p, n)) << n << " bytes, round " << round;
        std::memset(p, 0xff, h.heap.usable_size(p));
        held.push_back({p, n});
      }
    }
    for (const auto& [p, n] : held) h.free(p);
    if (round == 1) h.heap.trim(0);
  }
}

TEST(polder_heap, any_alignment_at_any_size) {
  served h;
  blocks held;
  for (std::size_t alignment = 16; alignment <= 64 * MiB; alignment *= 2)
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{1100},
                                std::size_t{5000}, 40 * KiB, 3 * MiB}) {
      auto* const p = static_cast<std::byte*>(h.heap.allocate_aligned(alignment, n));
      ASSERT_NE(nullptr, p) << n << " at " << alignment;
      ASSERT_TRUE(is_aligned(address(p), alignment)) << n << " at " << alignment;
      ASSERT_GE(h.heap.usable_size(p), n);
      if (n != 0) p[0] = p[n - 1] = std::byte{1};
      held.push_back(p);
    }
  for (void* p : held) h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_EQ(nullptr, h.heap.allocate_aligned(std::size_t{1} << 63, 100));
  EXPECT_EQ(nullptr, h.heap.allocate_aligned(4096, PTRDIFF_MAX));
}

// ---- runs that stay with who freed them -------------------------------------------------------------------------------

constexpr std::size_t two_grains = 2 * mem::grain_size;

TEST(kept_run, is_the_next_block_if_that_is_as_long) {
  served h;
  void* const p = h.allocate(two_grains);
  std::memset(p, 0x5a, two_grains);
  h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_EQ(two_grains, h.now().cached);
  EXPECT_NE(0u, h.word_of(p));
  EXPECT_EQ(p, h.allocate(two_grains - 1));
  EXPECT_NE(p, h.allocate(two_grains));
}

TEST(kept_run, goes_to_the_pool_where_the_next_block_is_longer_or_shorter_or_aligned_more) {
  for (const std::size_t n : {mem::grain_size, 3 * mem::grain_size, MiB, two_grains}) {
    served h;
    void* const p = h.allocate(two_grains);
    h.free(p);
    ASSERT_NE(0u, h.word_of(p));
    void* const other = n == two_grains ? h.heap.allocate_aligned(MiB, n) : h.allocate(n);
    EXPECT_TRUE(other == p || h.word_of(p) == 0) << n;
    EXPECT_NE(nullptr, other);
  }
}

TEST(kept_run, reads_as_zero_where_that_was_asked) {
  served h;
  void* const p = h.allocate(two_grains);
  std::memset(p, 0x5a, two_grains);
  h.free(p);
  ASSERT_EQ(p, h.heap.allocate_zeroed(two_grains));
  const auto* const bytes = static_cast<const unsigned char*>(p);
  EXPECT_TRUE(std::all_of(bytes, bytes + two_grains, [](unsigned char b) { return b == 0; }));
}

TEST(kept_run, of_two_the_one_that_was_freed_first_goes_to_the_pool) {
  served h;
  void* const first = h.allocate(two_grains);
  void* const second = h.allocate(two_grains);
  h.free(first);
  h.free(second);
  EXPECT_EQ(2 * two_grains, h.now().cached);
  EXPECT_EQ(0u, h.word_of(first));
  EXPECT_EQ(second, h.allocate(two_grains));
  EXPECT_EQ(first, h.allocate(two_grains));
}

TEST(kept_run, is_no_obstacle_to_a_block_that_grows) {
  served h;
  void* const behind = h.allocate(two_grains);
  void* const p = h.allocate(two_grains);
  ASSERT_EQ(address(p) + two_grains, address(behind));
  h.free(behind);
  EXPECT_EQ(p, h.heap.reallocate(p, 2 * two_grains));
}

TEST(kept_run, goes_with_a_trim_and_with_its_thread) {
  served h;
  h.free(h.allocate(two_grains));
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().cached);
  void* p = nullptr;
  h.in_a_thread([&] { h.free(p = h.allocate(two_grains)); });
  EXPECT_EQ(0u, h.word_of(p));
  EXPECT_EQ(p, h.allocate(two_grains));
}

TEST(kept_run, there_is_none_where_nothing_spare_is_kept) {
  served h;
  void* const p = h.allocate(two_grains);
  ASSERT_TRUE(h.heap.set_target(1));
  h.free(p);
  EXPECT_EQ(0u, h.now().cached);
}

TEST(kept_run_death, is_not_freed_again) {
  served h;
  void* const p = h.allocate(two_grains);
  h.free(p);
  EXPECT_DEATH(h.free(p), "invalid free.*double free");
  EXPECT_DEATH(static_cast<void>(h.heap.usable_size(p)), "nothing is allocated there");
}

TEST(freed_huge_block, is_the_next_until_others_want_memory) {
  if (os::address_space_limit() != SIZE_MAX) GTEST_SKIP() << "where room is limited it goes at once";
  for (const std::size_t n : {std::size_t{1'000'000}, std::size_t{5'000}}) {  // a run; blocks of a span
    served h;
    void* const p = h.allocate(40 * MiB);
    h.free(p);
    EXPECT_EQ(p, h.allocate(40 * MiB));
    h.free(p);
    EXPECT_GE(h.now().cached, 40 * MiB);
    const std::size_t peak = h.now().peak;
    for (std::size_t had = 0; had < 20 * MiB; had += n) h.allocate(n);
    EXPECT_LT(h.now().cached, MiB);
    EXPECT_LT(h.now().peak, peak + MiB + n);
  }
}

TEST(freed_huge_block, goes_at_once_where_room_is_limited) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              const rlimit some{4 * GiB, 4 * GiB};
              if (::setrlimit(RLIMIT_DATA, &some) != 0) return 1;
              served h;
              h.free(h.allocate(40 * MiB));
              return h.now().cached == 0 ? 0 : 2;
            }));
}

TEST(polder_heap, what_is_too_large_is_refused) {
  served h;
  for (const std::size_t n : {std::size_t(PTRDIFF_MAX), SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2 + 1}) {
    EXPECT_EQ(nullptr, h.allocate(n));
    EXPECT_EQ(nullptr, h.heap.allocate_zeroed(n));
  }
  void* const p = h.allocate(100);
  EXPECT_EQ(nullptr, h.heap.reallocate(p, PTRDIFF_MAX));
  EXPECT_EQ(p, h.heap.reallocate(p, 100));
  h.free(p);
}

TEST(polder_heap, what_is_too_large_costs_nothing_of_what_is_free) {
  served h;
  h.free(h.allocate(MiB));
  const std::size_t cached = h.now().cached;
  ASSERT_GE(cached, MiB);
  for (const std::size_t n : {std::size_t{1} << 62, os::most_mapped + 1}) {
    EXPECT_EQ(nullptr, h.allocate(n));
    EXPECT_EQ(nullptr, h.heap.allocate_zeroed(n));
    EXPECT_EQ(nullptr, h.heap.allocate_aligned(4096, n));
  }
  EXPECT_EQ(cached, h.now().cached);
}

TEST(polder_heap, large_blocks_that_nobody_writes_to_take_no_memory) {
  if (POLDER_SANITIZED) GTEST_SKIP() << "what the sanitizer notes of a block that is read is memory, too";
  constexpr std::size_t n = 100'000;
  served h;
  std::vector<void*> held(500);
  for (void*& p : held) p = h.allocate(n);
  for (void* p : held) h.free(p);
  const std::size_t before = os::bytes_used(os::used::resident);
  ASSERT_NE(0u, before);
  for (void*& p : held) p = h.allocate(n);  // in grains that were in use
  EXPECT_LT(os::bytes_used(os::used::resident), before + held.size() * os::page_size() / 2);
  for (void* p : held) h.free(p);
}

TEST(polder_heap, a_large_block_that_ends_with_what_was_in_use_takes_no_page_where_it_begins) {
  options o = served::usual;
  o.thp = thp_policy::off;
  served h(o);
  h.free(std::memset(h.allocate(MiB), 1, MiB));
  const auto* const p = static_cast<const std::byte*>(h.allocate(2 * MiB));  // which ends with that
  EXPECT_TRUE(resident(p + MiB));
  EXPECT_FALSE(resident(p));
}

class realloc : public testing::Test {
 protected:
  static unsigned char at(std::size_t i) { return (unsigned char)(i * 131 / 16 + 1); }
  void* filled(std::size_t n) {
    auto* const p = static_cast<unsigned char*>(h.allocate(n));
    for (std::size_t i = 0; i != n; ++i) p[i] = at(i);
    return p;
  }
  testing::AssertionResult holds(const void* p, std::size_t n) {
    for (std::size_t i = 0; i != n; ++i)
      if (static_cast<const unsigned char*>(p)[i] != at(i)) return testing::AssertionFailure() << "byte " << i;
    return testing::AssertionSuccess();
  }
  served h;
};

TEST_F(realloc, stays_where_the_class_is_the_same_or_little_is_saved) {
  void* const p = filled(1000);
  EXPECT_EQ(p, h.heap.reallocate(p, 1024));
  EXPECT_EQ(p, h.heap.reallocate(p, 600));
  EXPECT_TRUE(holds(p, 600));
  void* const q = h.heap.reallocate(p, 100);
  EXPECT_NE(p, q);
  EXPECT_TRUE(holds(q, 100));
}

TEST_F(realloc, what_grew_by_little_has_a_quarter_more_than_it_held) {
  for (const std::size_t n : {std::size_t{400}, std::size_t{4000}, std::size_t{24'000}}) {
    void* const p = filled(n);
    const std::size_t had = h.heap.usable_size(p);
    void* const q = h.heap.reallocate(p, had + 1);
    EXPECT_TRUE(holds(q, n));
    EXPECT_GE(h.heap.usable_size(q), had + had / 4);
    EXPECT_LE(h.heap.usable_size(q), had + had / 2);
    h.heap.deallocate_sized(q, had + 1);
    // What grew by more has what it asks for.
    void* const r = h.heap.reallocate(filled(n), had + had / 4);
    EXPECT_LT(h.heap.usable_size(r), had + had / 4 + had / 4);
  }
  EXPECT_EQ(32 * KiB, h.heap.usable_size(h.heap.reallocate(filled(28 * KiB), 30 * KiB)));
}

TEST_F(realloc, what_grew_by_little_has_that_where_there_is_no_more) {
  for (const std::size_t n : {std::size_t{512}, 4 * KiB}) {
    void* const p = filled(n);
    void* const next = h.allocate(n + 1);
    h.heap.set_limit(1);  // nothing but what is free in spans
    h.free(h.allocate(n + 1));
    void* const q = h.heap.reallocate(p, n + 1);
    h.heap.set_limit(0);
    ASSERT_NE(nullptr, q);
    EXPECT_TRUE(holds(q, n));
    EXPECT_EQ(h.word_of(next), h.word_of(q)) << "of the class that holds n + 1";
  }
}

TEST_F(realloc, a_large_block_shrinks_where_it_is_and_grows_back) {
  void* const p = filled(MiB);
  EXPECT_EQ(MiB, h.now().active);
  EXPECT_EQ(p, h.heap.reallocate(p, 256 * KiB));
  EXPECT_EQ(256 * KiB, h.now().active);
  ASSERT_EQ(p, h.heap.reallocate(p, 960 * KiB));
  EXPECT_EQ(960 * KiB, h.now().active);
  EXPECT_EQ(960 * KiB, h.heap.usable_size(p));
  EXPECT_TRUE(holds(p, 256 * KiB));
  h.free(p);
  EXPECT_EQ(0u, h.now().active);
}

TEST_F(realloc, a_large_block_moves_where_there_is_no_room) {
  void* const p = filled(100 * KiB);
  blocks others;
  for (int i = 0; i != 64; ++i) others.push_back(h.allocate(64 * KiB));
  void* const q = h.heap.reallocate(p, 10 * MiB);
  ASSERT_NE(nullptr, q);
  EXPECT_TRUE(holds(q, 100 * KiB));
  h.free(q);
}

TEST_F(realloc, a_huge_block_goes_with_its_pages_and_comes_back_small) {
  void* p = filled(40 * MiB);
  p = h.heap.reallocate(p, 400 * MiB);
  ASSERT_NE(nullptr, p);
  EXPECT_TRUE(holds(p, 40 * MiB));
  p = h.heap.reallocate(p, 40 * MiB);
  EXPECT_TRUE(holds(p, 40 * MiB));
  p = h.heap.reallocate(p, 100);
  EXPECT_TRUE(holds(p, 100));
  EXPECT_LT(h.heap.usable_size(p), 200u);
  EXPECT_EQ(0u, h.now().large);
  h.free(p);
}

TEST_F(realloc, any_walk_of_sizes_keeps_the_contents) {
  std::mt19937 random(11);
  for (int walk = 0; walk != 20; ++walk) {
    std::size_t n = 100;
    void* p = filled(n);
    for (int step = 0; step != 30; ++step) {
      const std::size_t wanted = 1 + random() % (std::size_t{1} << (random() % 23));
      p = h.heap.reallocate(p, wanted);
      ASSERT_NE(nullptr, p);
      ASSERT_GE(h.heap.usable_size(p), wanted);
      ASSERT_TRUE(holds(p, std::min(n, wanted))) << n << " to " << wanted;
      for (std::size_t i = std::min(n, wanted); i != wanted; ++i) static_cast<unsigned char*>(p)[i] = at(i);
      n = wanted;
    }
    h.free(p);
  }
  EXPECT_EQ(0u, h.now().allocated);
}

TEST(polder_heap, a_batch_is_that_many_blocks) {
  served h;
  for (const std::size_t n : {std::size_t{0}, std::size_t{16}, std::size_t{1000}, 40 * KiB}) {
    blocks held(300);
    ASSERT_EQ(held.size(), h.heap.allocate_batch(n, held.size(), held.data()));
    EXPECT_EQ(held.size(), std::set<void*>(held.begin(), held.end()).size());
    for (void* p : held) std::memset(p, 1, n);
    held[7] = (h.free(held[7]), nullptr);
    h.heap.deallocate_batch(held.data(), held.size());
    EXPECT_EQ(0u, h.now().allocated);
  }
  blocks none(3);
  EXPECT_EQ(0u, h.heap.allocate_batch(PTRDIFF_MAX, 3, none.data()));
}

// ---- options ---------------------------------------------------------------------------------------------------------

TEST(options_of_the_heap, no_decay_returns_what_a_run_is_cut_by_in_the_realloc) {
  served h({.arena_size = GiB, .decay_ms = 0});
  auto* const p = static_cast<std::byte*>(h.allocate(8 * MiB));
  std::memset(p, 7, 8 * MiB);
  const std::size_t held = h.now().committed;
  ASSERT_EQ(p, h.heap.reallocate(p, 2 * MiB));
  EXPECT_EQ(held - 6 * MiB, h.now().committed);
  EXPECT_EQ(0u, h.now().cached);
  EXPECT_EQ(std::byte{7}, p[2 * MiB - 1]);
  h.free(p);
}

TEST(options_of_the_heap, no_decay_returns_memory_in_the_free) {
  served h({.arena_size = GiB, .decay_ms = 0});
  auto* const large = static_cast<std::byte*>(h.allocate(MiB));
  std::memset(large, 1, MiB);
  h.free(large);
  EXPECT_FALSE(resident(large + 4096));  // the first page is looked at
  EXPECT_EQ(0u, h.now().cached);
  auto* const huge = static_cast<std::byte*>(h.allocate(40 * MiB));
  *huge = std::byte{1};
  h.free(huge);
  EXPECT_FALSE(resident(huge));
  EXPECT_EQ(0u, h.now().cached);
  blocks held;
  for (unsigned i = 0; i != per_span + 1; ++i) held.push_back(std::memset(h.allocate(size), 1, size));
  for (unsigned i = 0; i != per_span; ++i) h.free(held[i]);
  EXPECT_FALSE(resident(held[8]));
  EXPECT_TRUE(resident(held[per_span]));
  void* const again = h.heap.allocate_zeroed(MiB);
  EXPECT_TRUE(is_zero(again, MiB));
}

// Small pages are touched one by one, and of so many threads a heap of 24 MiB is not large.
struct with_huge_pages_for_some : served {
  static constexpr options asked = [] {
    options o = usual;
    o.populate = false;
    return o;
  }();
  with_huge_pages_for_some() : served(asked) {}

  bool possible() {
    return heap.read_modes().huge_pages == huge_page_mode::large && !os::lacks_advice() && !os::lacks_huge_pages();
  }

  // In the last of some threads that all have a block.
  void among(int others, const std::function<void()>& f) {
    touched(240);
    if (others == 0) return f();
    thread([&] { among(others - 1, f); }).join();
  }
  const std::byte* touched(std::size_t n) {
    auto* const p = static_cast<std::byte*>(allocate(n));
    *p = std::byte{1};
    return p;
  }
  const std::byte* filled(std::size_t n) { return static_cast<std::byte*>(std::memset(allocate(n), 1, n)); }
};

TEST(options_of_the_heap, huge_pages_are_for_who_has_filled_spans_of_the_class) {
  with_huge_pages_for_some h;
  if (!h.possible()) GTEST_SKIP() << "no huge pages here";
  h.among(10, [&] {
    const std::byte* last = nullptr;
    for (std::size_t had = 0; had < 24 * MiB; had += 240) last = h.touched(240);
    bool any = false;  // it may be out of them now and then
    for (int spans = 0; spans != 16; ++spans) {
      const mem::grain before = h.grain_of(last);
      while (h.grain_of(last) == before) last = h.touched(240);
      any |= asks_for_huge_pages(last);
    }
    EXPECT_TRUE(any);
    h.in_a_thread([&] { EXPECT_FALSE(asks_for_huge_pages(h.touched(240))); });
  });
}

TEST(options_of_the_heap, huge_pages_are_for_who_has_filled_spans_of_other_classes) {
  constexpr unsigned first = 10, many = 24;  // classes
  with_huge_pages_for_some h;
  if (!h.possible()) GTEST_SKIP() << "no huge pages here";
  h.among(10, [&] {
    for (int i = 0; i != 24; ++i) h.touched(MiB);
    unsigned in_huge_pages = 0;
    for (unsigned c = first; c != first + many; ++c) {
      const std::size_t size = classes::block_size[c];
      const bool is_in_one = asks_for_huge_pages(h.touched(size));
      EXPECT_FALSE(is_in_one && c < first + 4);
      in_huge_pages += is_in_one;
      for (std::size_t had = 2 * size; had <= classes::usable_bytes[c]; had += size) h.touched(size);
    }
    EXPECT_GT(in_huge_pages, many / 4);
    // Among spans of which a block or two were handed out the next one is none that will be filled.
    h.in_a_thread([&] {
      for (unsigned c = first; c != first + many; ++c)
        EXPECT_FALSE(asks_for_huge_pages(h.touched(classes::block_size[c])));
    });
  });
}

TEST(options_of_the_heap, huge_pages_are_for_large_blocks_of_a_single_grain) {
  with_huge_pages_for_some h;
  if (!h.possible()) GTEST_SKIP() << "no huge pages here";
  h.among(10, [&] {
    for (int i = 0; i != 20; ++i) h.filled(MiB);
    for (const std::size_t n : {33'000, 50'000, 60'000}) EXPECT_TRUE(asks_for_huge_pages(h.touched(n))) << n;
  });
}

// What lies between them may stay empty.
TEST(options_of_the_heap, huge_pages_are_for_none_that_are_aligned_to_several_times_their_size) {
  with_huge_pages_for_some h;
  if (!h.possible()) GTEST_SKIP() << "no huge pages here";
  const auto aligned = [&](std::size_t alignment, std::size_t n) {
    return std::memset(h.heap.allocate_aligned(alignment, n), 1, n);
  };
  for (int i = 0; i != 20; ++i) h.filled(MiB);
  for (int i = 0; i != 10; ++i)
    for (const auto& [alignment, n] : {std::pair{2 * MiB, std::size_t{64}},
                                       {2 * MiB, 64 * KiB},
                                       {MiB, 64 * KiB},
                                       {128 * KiB, 40 * KiB},
                                       {2 * MiB, MiB},
                                       {8 * MiB, 64 * KiB}})
      EXPECT_FALSE(asks_for_huge_pages(aligned(alignment, n))) << alignment << ' ' << n;
  bool any = false;
  for (int i = 0; i != 10; ++i) any |= asks_for_huge_pages(aligned(2 * MiB, 2 * MiB));
  EXPECT_TRUE(any);
}

// Not in a heap that gave its blocks huge pages from 8 MiB on: each would bring in what it never uses.
TEST(options_of_the_heap, large_blocks_of_which_little_is_touched_lie_in_small_pages_until_others_are_filled) {
  for (const std::size_t size : {60'000, 100'000, 1'000'000, 5'000'000}) {
    with_huge_pages_for_some h;
    if (!h.possible()) GTEST_SKIP() << "no huge pages here";
    if (const char* why = os::lacks_page_map()) GTEST_SKIP() << why;
    for (std::size_t had = 0; had < 100 * MiB; had += size) h.touched(size);
    EXPECT_FALSE(asks_for_huge_pages(h.touched(size))) << size;
    bool any = false;
    for (std::size_t had = 0; had < 200 * MiB && !any; had += 11 * size) {
      for (int i = 0; i != 10; ++i) h.filled(size);
      any = asks_for_huge_pages(h.touched(size));
    }
    EXPECT_TRUE(any) << size;
  }
}

TEST(options_of_the_heap, a_program_that_needs_large_blocks_alone_gives_memory_back_too) {
  served h({.arena_size = GiB, .decay_ms = 2});
  blocks held;
  for (int i = 0; i != 64; ++i) held.push_back(std::memset(h.allocate(MiB), 1, MiB));
  for (void* const p : held) h.free(p);
  ASSERT_GE(h.now().cached, 16 * MiB);
  for (int i = 0; h.now().cached >= MiB; ++i) {
    ASSERT_LT(i, 5'000);
    ::usleep(1'000);
    h.free(h.allocate(100'000));
  }
}

TEST(options_of_the_heap, left_to_the_kernel_calloc_is_zero_all_the_same) {
  served h({.arena_size = GiB, .decay_ms = 1, .release = release_policy::free});
  for (int round = 0; round != 50; ++round) {
    blocks held;
    for (const std::size_t n : {100ul, 5000ul, 100'000ul, 700'000ul}) {
      held.push_back(h.heap.allocate_zeroed(n));
      ASSERT_TRUE(is_zero(held.back(), n)) << n << " in round " << round;
      std::memset(held.back(), 0xff, n);
    }
    for (void* p : held) h.free(p);
    h.heap.trim(0);
  }
}

TEST(options_of_the_heap, larger_pages) {
  served h({.arena_size = 16 * MiB, .page_size = 64 * KiB, .decay_ms = 0});
  std::minstd_rand random(5);
  blocks held;
  for (int i = 0; i != 3'000; ++i) {
    const std::size_t n = random() % (i % 50 == 0 ? 5'000'000 : 20'000);
    void* const p = h.heap.allocate_zeroed(n);
    ASSERT_NE(nullptr, p);
    ASSERT_TRUE(is_zero(p, n)) << n;
    std::memset(p, 1, n);
    held.push_back(p);
    if (held.size() > 100) {
      h.free(held[0]);
      held.erase(held.begin());
    }
  }
  EXPECT_EQ(64 * KiB, h.heap.effective_options().page_size);
  expect_ordered(h.now());
  for (void* p : held) h.free(p);
}

TEST(options_of_the_heap, a_small_arena_goes_on_beyond_itself) {
  served h({.arena_size = MiB, .decay_ms = 1'000'000});
  blocks held;
  for (int i = 0; i != 3'000; ++i) held.push_back(std::memset(h.allocate(5000), i, 5000));
  for (int i = 0; i != 100; ++i) held.push_back(std::memset(h.allocate(100 * KiB), i, 100 * KiB));
  expect_ordered(h.now());
  EXPECT_GT(h.now().mapped, 20 * MiB);
  for (std::size_t i = 0; i != held.size(); ++i) {
    ASSERT_EQ((unsigned char)(i < 3'000 ? i : i - 3'000), static_cast<unsigned char*>(held[i])[4999]);
    ASSERT_TRUE(h.heap.owns(held[i]));
    h.free(held[i]);
  }
  EXPECT_EQ(0u, h.now().allocated);
}

// ---- what it says of itself --------------------------------------------------------------------------------------------

TEST(statistics_of_the_heap, are_exact_when_nobody_moves) {
  served h;
  void* const a = h.allocate(100);
  EXPECT_EQ(112u, h.now().allocated);
  EXPECT_EQ(mem::grain_size, h.now().active);
  void* const b = h.allocate(100 * KiB);
  EXPECT_EQ(112u + 128 * KiB, h.now().allocated);
  EXPECT_EQ(128 * KiB, h.now().large);
  void* const c = h.allocate(200 * MiB);  // too much to be kept
  EXPECT_EQ(128 * KiB + 200 * MiB, h.now().large);
  expect_ordered(h.now());
  const std::size_t mapped = h.now().mapped;
  h.free(c);
  EXPECT_EQ(128 * KiB, h.now().large);
  EXPECT_LE(h.now().mapped, mapped);
  h.free(b);
  EXPECT_EQ(0u, h.now().large);
  EXPECT_EQ(128 * KiB, h.now().cached);
  h.free(a);
  EXPECT_EQ(0u, h.now().allocated);
  expect_ordered(h.now());
}

TEST(statistics_of_the_heap, the_peak_is_not_below_what_was_seen) {
  served h;
  void* const p = h.allocate(10 * MiB);
  const std::size_t seen = h.now().resident;
  h.free(p);
  h.heap.trim(0);
  EXPECT_GE(h.now().peak, seen);
}

TEST(statistics_of_the_heap, the_peak_is_of_everything_at_once) {
  served h;
  std::vector<void*> small(40 * MiB / 256);
  for (void*& p : small) p = h.allocate(256);
  const std::size_t seen = h.now().resident;
  for (void* p : small) h.free(p);
  h.heap.trim(0);
  h.free(h.allocate(40 * MiB));
  EXPECT_GE(h.now().peak, seen);
  EXPECT_LE(h.now().peak, seen + 2 * MiB);
}

TEST(statistics_of_the_heap, the_peak_never_falls) {
  served h;
  h.allocate(100 * MiB);
  h.free(h.allocate(40 * MiB));          // which stays for a while,
  void* const p = h.allocate(60 * MiB);  // and is no part of this
  const std::size_t seen = h.now().peak;
  EXPECT_GE(seen, 200 * MiB);
  h.heap.trim(0);
  EXPECT_EQ(seen, h.now().peak);
  h.free(p);
  h.heap.trim(0);
  EXPECT_EQ(seen, h.now().peak);
}

TEST(statistics_of_the_heap, what_could_not_be_had_is_not_in_the_peak) {
  served h;
  h.free(h.allocate(100));
  const std::size_t seen = h.now().peak;
  if (h.allocate(std::size_t{1} << 45) != nullptr) GTEST_SKIP() << "the system promises whatever is asked for";
  EXPECT_LE(h.now().peak, seen + 2 * MiB);
}

TEST(statistics_of_the_heap, guarded_blocks_are_in_the_peak) {
  served h({.arena_size = GiB, .decay_ms = 1'000'000, .cgroup = false, .hardened = true, .guard_rate = 1});
  std::vector<void*> held(200);
  for (void*& p : held) p = h.allocate(100);
  const std::size_t seen = h.now().peak, resident = h.now().resident, committed = h.now().committed;
  EXPECT_GT(h.now().large, 50 * os::page_size());
  EXPECT_EQ(resident, committed);
  for (void* p : held) h.free(p);
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().large);
  EXPECT_EQ(h.now().resident, h.now().committed);
  EXPECT_LE(seen, h.now().peak);
}

// As with the C library's malloc: a program that reads a length somewhere hears that there is no such memory, and is not killed
// for want of it later.
TEST(exhaustion, what_the_machine_could_never_hold_is_refused) {
  std::FILE* const f = std::fopen("/proc/sys/vm/overcommit_memory", "r");
  const int policy = f ? std::fgetc(f) : 0;
  if (f) std::fclose(f);
  struct sysinfo machine;
  if (policy != '0' || ::sysinfo(&machine) != 0) GTEST_SKIP() << "the system promises whatever is asked for";
  const std::size_t too_much = (machine.totalram + machine.totalswap) * machine.mem_unit + GiB;
  served h;
  EXPECT_EQ(nullptr, h.allocate(too_much));
  EXPECT_EQ(nullptr, h.heap.allocate_zeroed(too_much));
  EXPECT_EQ(nullptr, h.heap.allocate_aligned(8 * MiB, too_much));
  for (const std::size_t n : {std::size_t{100}, 100 * KiB, 4 * MiB, 64 * MiB}) {
    auto* const p = static_cast<char*>(h.allocate(n));
    p[0] = 'a', p[n - 1] = 'z';
    EXPECT_EQ(nullptr, h.heap.reallocate(p, too_much)) << n;
    EXPECT_EQ('a', p[0]);
    EXPECT_EQ('z', p[n - 1]);
    h.free(p);
  }
  EXPECT_EQ(0u, h.now().allocated);
}

// ---- near the end of the address space -----------------------------------------------------------------------------------

// Fills a limited address space with blocks of n bytes and frees them again, as often as `rounds`.
int fill(std::size_t room, std::size_t n, int rounds) {
  const std::size_t limit = os::bytes_used(os::used::address_space) + room;
  const rlimit some{limit, limit};
  if (::setrlimit(RLIMIT_AS, &some) != 0) return 1;
  static void* held[200'000];
  served h({.decay_ms = 1'000'000});
  std::size_t first_time = 0;
  for (int round = 0; round != rounds; ++round) {
    std::size_t count = 0;
    while (count != std::size(held) && (held[count] = h.allocate(n)) != nullptr) {
      std::memcpy(held[count], &count, sizeof count);
      ++count;
    }
    if (count * n < room / 4) return 2;
    const statistics s = h.now();
    if (s.allocated > s.active) return 3;
    if (s.active > s.resident) return 4;
    if (s.resident > s.mapped) return 5;
    if (s.mapped > s.reserved) return 6;
    for (std::size_t i = 0; i != count; ++i)
      if (std::memcmp(held[i], &i, sizeof i) != 0) return 7;
    for (std::size_t i = 0; i != count; ++i) h.free(held[i]);
    if (h.now().allocated != 0) return 8;
    if (first_time == 0) first_time = count;
    if (count + count / 8 < first_time) return 9;  // some of it was lost
  }
  return 0;
}

// In a process of its own: where other heaps lie in it, so much room beside them is that of a heap with tables for all of theirs.
TEST(exhaustion, every_block_can_be_had_and_freed_and_had_again) {
#if defined(POLDER_EMULATED)
  GTEST_SKIP() << "the kernel begins no program that an emulator runs";
#endif
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  constexpr char of_its_own[] = "POLDER_TEST_EXHAUSTION";
  if (std::getenv(of_its_own) == nullptr) {
    EXPECT_EQ(os::fine, os::forked([&] {
                ::setenv(of_its_own, "1", 1);
                ::execl("/proc/self/exe", "unit.heap", "--gtest_filter=exhaustion.every_block_can_be_had*",
                        static_cast<char*>(nullptr));
                return 1;
              }));
    return;
  }
  for (const std::size_t room : {40 * MiB, 300 * MiB})
    for (const std::size_t n :
         {std::size_t{2000}, 32 * KiB, std::size_t{33'000}, std::size_t{37'000}, 60 * KiB, 100 * KiB, 3 * MiB})
      EXPECT_EQ(os::fine, os::forked([&] { return fill(room, n, 3); })) << n << " bytes in " << room;
}

}  // namespace
}  // namespace polder::heap
