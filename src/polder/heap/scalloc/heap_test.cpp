// scalloc from inside: what its spans, LABs and pool do, step by step.
#include <polder/base/some_types_test.hpp>
#include <polder/heap/hosted_test.hpp>
#include <polder/heap/scalloc/sheets.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap {
namespace {

using namespace scalloc;
// A heap of a test is never unmapped, so it takes a part of the address space only: 2^12 virtual spans of 2 MiB.
template <class Sheet>
options usual() {
  options o = hosted<Sheet>::usual();
  o.arena_size = 8 * GiB;
  return o;
}
template <class Sheet = scalloc_sheet>
options with(option which, std::uint64_t value) {
  options o = usual<Sheet>();
  o.tuned[which] = value;
  return o;
}

template <class Sheet>
struct heap_of : hosted<Sheet> {
  explicit heap_of(const options& o = usual<Sheet>()) : hosted<Sheet>(o) {}
};
using heap = heap_of<scalloc_sheet>;

span& span_of(heap& h, void* p) { return *static_cast<span*>(const_cast<void*>(h.front().find(p).span)); }
span_state state_of(heap& h, void* p) { return span_of(h, p).epoch.load(order::relaxed).state(); }

std::vector<void*> many(heap& h, std::size_t n, std::size_t size) {
  std::vector<void*> all(n);
  for (void*& p : all) p = h.allocate(size);
  return all;
}

bool resident(const void* p) {
  unsigned char here = 0;
  return mincore(const_cast<std::byte*>(at_address(align_down(address(p), 4096))), 4096, &here) == 0 && here != 0;
}

// Under a limit of the address space virtual spans shrink, and these are not the sizes that the tests count on.
struct spacious : testing::Test {
  void SetUp() override {
    if (os::address_space_limit() != SIZE_MAX) GTEST_SKIP() << "the address space is limited";
  }
};
struct scalloc_cores : spacious {};
struct scalloc_fork : spacious {};
struct scalloc_fragmentation : spacious {};
struct scalloc_life : spacious {};
struct scalloc_misuse : spacious {};
struct scalloc_orphans : spacious {};
struct scalloc_pool : spacious {};
struct scalloc_remote : spacious {};
struct scalloc_variants : spacious {};
struct scalloc_virtual_spans : spacious {};

constexpr unsigned per_span = 127;  // blocks of 256 bytes

// ---- virtual spans ----------------------------------------------------------------------------------------------------

TEST_F(scalloc_virtual_spans, every_size_begins_at_a_multiple_of_2_MiB) {
  heap h;
  for (std::size_t n = 1; n <= MiB; n *= 2) {
    void* const p = h.allocate(n);
    EXPECT_EQ(0u, address(h.front().find(p).span) % (2 * MiB)) << n;
    h.free(p);
  }
  EXPECT_EQ(0u, h.front().find(h.allocate(MiB + 1)).cls) << "larger is not the arena's";
}

TEST_F(scalloc_virtual_spans, the_unused_part_has_no_memory) {
  heap h;
  auto* const p = static_cast<std::byte*>(h.allocate(64));
  const auto* const s = static_cast<const std::byte*>(h.front().find(p).span);
  EXPECT_TRUE(resident(s));
  EXPECT_FALSE(resident(s + 2 * 4096)) << "blocks are threaded a page at a time";
  for (std::size_t at = 32 * KiB; at < 2 * MiB; at += 4096) ASSERT_FALSE(resident(s + at)) << at;
  h.free(p);
}

TEST_F(scalloc_virtual_spans, other_sizes_by_option) {
  // The last one takes half a TiB of addresses, which ThreadSanitizer does not always have left.
  const unsigned last = os::under_sanitizer() ? 3 : 6;
  for (unsigned power = 0; power <= last; ++power) {
    options o = with(virtual_span, power);
    o.arena_size = (2 * MiB << power) << 12;
    heap h(o);
    void* const p = h.allocate(1000);
    EXPECT_EQ(2 * MiB << power, h.front().arena().virtual_span());
    EXPECT_EQ(0u, address(h.front().find(p).span) % (2 * MiB << power));
    h.free(p);
  }
}

TEST_F(scalloc_virtual_spans, protected_ones_trap_beyond_the_real_span) {
  if (page_of_tests() > 32 * KiB) GTEST_SKIP() << "the real span ends within a page";
  heap h(with(protect, 1));
  auto* const p = static_cast<std::byte*>(h.allocate(64));
  auto* const s = static_cast<std::byte*>(const_cast<void*>(h.front().find(p).span));
  s[32 * KiB - 1] = std::byte{1};
  const os::ending beyond = os::forked([&] {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would report it first
    s[32 * KiB] = std::byte{1};
    return 0;
  });
  EXPECT_EQ((os::ending{.signal = SIGSEGV}), beyond);
  auto* const q = static_cast<std::byte*>(h.allocate(MiB));
  std::memset(q, 1, MiB);
  h.free(q);
  h.free(p);
}

TEST_F(scalloc_virtual_spans, protected_ones_are_told_of_in_full) {
  heap h(with(protect, 1));
  const std::vector<void*> all = many(h, 20, 700 * KiB);
  EXPECT_EQ(20 * MiB, h.now().allocated) << "a block of 1 MiB each";
  EXPECT_GE(h.now().mapped, 20 * real_spans::bytes.back());
  for (void* p : all) h.free(p);
}

TEST_F(scalloc_virtual_spans, a_small_arena_has_smaller_ones_and_what_does_not_fit_is_mapped) {
  options o = usual<scalloc_sheet>();
  o.arena_size = 4 * MiB;
  heap h(o);
  std::vector<void*> all(1, h.allocate(1));
  EXPECT_EQ(64 * KiB, h.front().arena().virtual_span());
  EXPECT_EQ(1u, h.front().cuts().blocks(size_classes::of(32 * KiB)));
  for (int i = 0; i < 3; ++i)
    for (std::size_t n = 16; n <= MiB; n *= 2) all.push_back(h.allocate(n));
  for (void* p : all) ASSERT_NE(nullptr, p);
  EXPECT_EQ(0u, h.front().find(all.back()).cls);
  for (int i = 0; i < 200; ++i) all.push_back(h.allocate(40000));
  for (void* p : all) std::memset(p, 1, h.it.usable_size(p));
  for (void* p : all) h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
}

TEST_F(scalloc_virtual_spans, the_smallest_arena_has_one) {
  for (const std::size_t asked : {std::size_t{1}, 64 * KiB}) {
    options o = usual<scalloc_sheet>();
    o.arena_size = asked;
    heap h(o);
    void* const p = h.allocate(16);
    ASSERT_NE(nullptr, p);
    EXPECT_EQ(1u, h.front().find(p).cls);
    h.free(p);
  }
}

// ---- the life of a span -----------------------------------------------------------------------------------------------

TEST_F(scalloc_life, hot_floating_reusable_free) {
  heap h;
  std::vector<void*> a = many(h, per_span, 256);
  EXPECT_EQ(span_state::hot, state_of(h, a[0])) << "though it has no block left";
  void* const b = h.allocate(256);
  EXPECT_EQ(span_state::floating, state_of(h, a[0]));
  EXPECT_EQ(span_state::hot, state_of(h, b));
  // 80 % of 127 is 101: as many free blocks float, one more makes it reusable.
  for (unsigned i = 0; i < 101; ++i) h.free(a[i]);
  EXPECT_EQ(span_state::floating, state_of(h, a[0]));
  h.free(a[101]);
  EXPECT_EQ(span_state::reusable, state_of(h, a[0]));
  const auto given = h.own()->spans_given;
  for (unsigned i = 102; i < per_span - 1; ++i) h.free(a[i]);
  EXPECT_EQ(given, h.own()->spans_given);
  h.free(a[per_span - 1]);
  EXPECT_EQ(given + 1, h.own()->spans_given) << "in the very free that empties it";
  EXPECT_EQ(span_state::free, state_of(h, a[0]));
  h.it.validate();
  h.free(b);
  EXPECT_EQ(span_state::hot, state_of(h, b)) << "a hot span stays";
}

TEST_F(scalloc_life, a_reusable_span_comes_before_the_pool) {
  heap h;
  std::vector<void*> a = many(h, per_span, 256);
  void* const b = h.allocate(256);
  for (unsigned i = 0; i < 110; ++i) h.free(a[i]);
  const auto taken = h.own()->spans_taken;
  std::vector<void*> c = many(h, per_span, 256);  // what b's span has left, then a's
  EXPECT_EQ(taken, h.own()->spans_taken);
  EXPECT_EQ(span_state::hot, state_of(h, a[120]));
  for (void* p : c) h.free(p);
  for (unsigned i = 110; i < per_span; ++i) h.free(a[i]);
  h.free(b);
}

TEST_F(scalloc_life, with_a_threshold_of_100_nothing_is_reused_before_it_is_empty) {
  heap h(with(reuse_percent, 100));
  std::vector<void*> a = many(h, per_span, 256);
  void* const b = h.allocate(256);
  for (unsigned i = 0; i < per_span - 1; ++i) h.free(a[i]);
  EXPECT_EQ(span_state::floating, state_of(h, a[0]));
  h.free(a[per_span - 1]);
  EXPECT_EQ(span_state::free, state_of(h, a[0]));
  h.free(b);
}

TEST_F(scalloc_life, with_a_threshold_of_0_the_first_free_makes_it_reusable) {
  heap h(with(reuse_percent, 0));
  std::vector<void*> a = many(h, per_span, 256);
  void* const b = h.allocate(256);
  h.free(a[7]);
  EXPECT_EQ(span_state::reusable, state_of(h, a[0]));
  for (unsigned i = 0; i < per_span; ++i)
    if (i != 7) h.free(a[i]);
  EXPECT_EQ(span_state::free, state_of(h, a[0]));
  h.free(b);
}

TEST_F(scalloc_life, one_block_a_span) {
  heap h;
  void* const p = h.allocate(MiB);
  EXPECT_EQ(span_state::hot, state_of(h, p));
  void* const q = h.allocate(MiB);
  EXPECT_EQ(span_state::floating, state_of(h, p));
  h.free(p);
  EXPECT_EQ(span_state::free, state_of(h, p)) << "floating to free, without a set";
  h.free(q);
}

// ---- remote frees -----------------------------------------------------------------------------------------------------

TEST_F(scalloc_remote, the_owner_takes_them_all_at_once_and_only_when_they_are_many) {
  heap h;
  std::vector<void*> a = many(h, per_span, 256);
  span& s = span_of(h, a[0]);
  h.in_a_thread([&] {
    for (unsigned i = 0; i < 101; ++i) h.free(a[i]);
    EXPECT_EQ(101u, h.own()->remote_frees);
  });
  EXPECT_EQ(101u, s.remote.load(order::relaxed).count());
  EXPECT_EQ(span_state::hot, state_of(h, a[0])) << "remote frees leave a hot span alone";
  h.in_a_thread([&] { h.free(a[101]); });
  const auto taken = h.own()->spans_taken;
  void* const p = h.allocate(256);
  EXPECT_EQ(taken, h.own()->spans_taken);
  EXPECT_EQ(0u, s.remote.load(order::relaxed).count());
  EXPECT_EQ(101u, s.local.load(order::relaxed).count());
  h.free(p);
  for (unsigned i = 102; i < per_span; ++i) h.free(a[i]);
}

TEST_F(scalloc_remote, too_few_and_the_span_floats) {
  heap h;
  std::vector<void*> a = many(h, per_span, 256);
  h.in_a_thread([&] {
    for (unsigned i = 0; i < 101; ++i) h.free(a[i]);
  });
  void* const p = h.allocate(256);
  EXPECT_EQ(span_state::floating, state_of(h, a[0]));
  EXPECT_NE(h.front().find(p).span, h.front().find(a[0]).span);
  h.in_a_thread([&] {
    for (unsigned i = 101; i < per_span; ++i) h.free(a[i]);
    EXPECT_EQ(1u, h.own()->spans_given) << "who frees the last block gives the span back, wherever the owner is";
  });
  EXPECT_EQ(span_state::free, state_of(h, a[0]));
  h.free(p);
}

TEST_F(scalloc_remote, lists_lie_on_lines_of_their_own) {
  EXPECT_GE(offsetof(span, remote) / cache_line, offsetof(span, local) / cache_line + 2);
  EXPECT_EQ(0u, offsetof(span, remote) % cache_line);
  EXPECT_EQ(offsetof(span, local) / cache_line, offsetof(span, epoch) / cache_line) << "figure 4";
}

// ---- threads that end -------------------------------------------------------------------------------------------------

TEST_F(scalloc_orphans, float_and_are_adopted_by_who_frees) {
  heap h;
  std::vector<void*> a;
  h.in_a_thread([&] {
    a = many(h, 2 * per_span + 5, 256);
    for (unsigned i = 0; i < 110; ++i) h.free(a[i]);
    EXPECT_EQ(span_state::reusable, state_of(h, a[0]));
  });
  EXPECT_EQ(span_state::floating, state_of(h, a[0])) << "orphans always float";
  EXPECT_EQ(span_state::floating, state_of(h, a[per_span]));
  h.free(h.allocate(256));
  h.free(a[110]);
  EXPECT_EQ(h.own()->own.owner.load(order::relaxed), span_of(h, a[0]).owner.load(order::relaxed));
  EXPECT_EQ(span_state::reusable, state_of(h, a[0])) << "in the adopter's set now";
  for (unsigned i = 111; i < a.size(); ++i) h.free(a[i]);
  for (unsigned i : {0u, per_span, 2 * per_span}) EXPECT_EQ(span_state::free, state_of(h, a[i]));
}

TEST_F(scalloc_orphans, nothing_stays_with_a_thread_that_ends) {
  heap h;
  h.in_a_thread([&] {
    for (void* p : many(h, 1000, 256)) h.free(p);
    EXPECT_LT(h.own()->spans_given, h.own()->spans_taken) << "the hot one";
  });
  h.free(h.allocate(16));
  EXPECT_EQ(1u, h.now().spans);
}

TEST_F(scalloc_orphans, a_second_life_of_a_LAB_has_another_owner) {
  heap h;
  void* p = nullptr;
  owner_word first;
  h.in_a_thread([&] {
    p = h.allocate(64);
    first = h.own()->own.owner.load(order::relaxed);
  });
  h.in_a_thread([&] {
    h.free(h.allocate(16));
    const owner_word second = h.own()->own.owner.load(order::relaxed);
    EXPECT_NE(first, second);
    EXPECT_EQ(&first.lab<int>(), &second.lab<int>());
    h.free(p);
    EXPECT_EQ(1u, h.own()->remote_frees) << "the block of a former life is no block of one's own";
  });
}

// What a destructor allocates when its thread has left: in one hot span after the other, as before.
TEST_F(scalloc_orphans, past_its_exit_a_thread_fills_spans) {
  heap h;
  std::vector<void*> all;
  h.free(h.allocate(16));  // this thread has a LAB
  h.in_a_thread([&] {
    h.it.leave_thread();
    test_host::gone = true;
    all = many(h, 10 * per_span, 256);
    h.free(all.back());
    all.pop_back();
  });
  EXPECT_EQ(11u, h.now().spans);
  EXPECT_EQ(span_state::hot, state_of(h, all.back()));
  for (void* p : all) h.free(p);
  h.it.trim(0);
  EXPECT_EQ(0u, h.now().active) << "the hot span of a borrowed LAB goes with a trim";
  h.it.validate();
}

TEST_F(scalloc_orphans, ids_wrap) {
  heap h;
  void* p = nullptr;
  h.in_a_thread([&] {
    p = h.allocate(64);
    for (unsigned i = 0; i < 70'000; ++i) {
      h.it.leave_thread();
      h.free(h.allocate(32));
    }
    h.free(p);
  });
  h.it.validate();
}

// ---- the pool -----------------------------------------------------------------------------------------------------------

TEST_F(scalloc_pool, what_was_put_is_had_again_by_the_same_size_and_by_others) {
  heap h;
  std::vector<void*> a = many(h, 3 * per_span, 256);
  for (void* p : a) h.free(p);
  const std::size_t reserved_spans = h.front().arena().taken();
  const auto hits = h.own()->pool_hits, same = h.own()->pool_same_size;
  a = many(h, 100, 128);
  EXPECT_GT(h.own()->pool_hits, hits);
  EXPECT_EQ(h.own()->pool_hits - hits, h.own()->pool_same_size - same) << "only the header changes";
  void* const large = h.allocate(MiB);
  EXPECT_GT(h.own()->pool_hits - hits, h.own()->pool_same_size - same) << "and any virtual span fits any class";
  EXPECT_EQ(reserved_spans, h.front().arena().taken());
  h.free(large);
  for (void* p : a) h.free(p);
}

TEST_F(scalloc_pool, long_spans_lose_their_memory_and_short_ones_keep_it) {
  if (page_of_tests() > 16 * KiB) GTEST_SKIP() << "the first page, which stays, is most of a span";
  heap h;
  std::vector<void*> fine = many(h, 2 * per_span, 256), coarse = many(h, 40, 32 * KiB);
  for (void* p : fine) std::memset(p, 1, 256);
  for (void* p : coarse) std::memset(p, 1, 32 * KiB);
  for (void* p : fine) h.free(p);
  for (void* p : coarse) h.free(p);
  ASSERT_EQ(span_state::free, state_of(h, fine[0]));
  ASSERT_EQ(span_state::free, state_of(h, coarse[0]));
  EXPECT_TRUE(resident(fine[100]));
  EXPECT_FALSE(resident(coarse[0]));
  EXPECT_TRUE(resident(&span_of(h, coarse[0]))) << "all but the first page";
  EXPECT_GT(h.it.trim(0), 0u) << "the compaction call of section 3.3";
  EXPECT_FALSE(resident(fine[100]));
}

TEST_F(scalloc_pool, the_threshold_is_an_option) {
  if (page_of_tests() > 16 * KiB) GTEST_SKIP() << "the first page, which stays, is most of a span";
  heap low(with(madvise_threshold, 16 * KiB));
  std::vector<void*> a = many(low, 2 * per_span, 256);
  for (void* p : a) low.free(p);
  EXPECT_FALSE(resident(a[100]));
  heap high(with(madvise_threshold, 4 * MiB));
  a = many(high, 40, 32 * KiB);
  for (void* p : a) std::memset(p, 1, 32 * KiB);
  for (void* p : a) high.free(p);
  EXPECT_TRUE(resident(a[0]));
}

TEST_F(scalloc_pool, alone_a_thread_finds_a_stack) {
  span_pool pool(4);
  std::array<span, 6> spans{};
  const auto links = [&](span_number n) -> atomic<span_number>& { return spans[n].link; };
  for (span_number n = 1; n <= 5; ++n) {
    spans[n].number = n;
    pool.put(spans[n], 2, 7, links);
  }
  for (span_number n = 5; n >= 1; --n) EXPECT_EQ(n, pool.get(2, 7, links));
  EXPECT_EQ(0u, pool.get(2, 7, links));
  pool.put(spans[1], 0, 1, links);
  pool.put(spans[2], 8, 2, links);
  pool.put(spans[3], 2, 3, links);
  EXPECT_EQ(3u, pool.get(2, 3, links)) << "its own stack first";
  EXPECT_EQ(1u, pool.get(2, 3, links)) << "then all of them, sizes outside, cores inside";
  EXPECT_EQ(2u, pool.get(2, 3, links));
}

TEST_F(scalloc_pool, threads_lose_and_invent_nothing) {
  static span_pool pool(3);
  constexpr unsigned count = 300;
  static std::array<span, count + 1> spans;
  static std::array<std::atomic<int>, count + 1> held;
  const auto links = [](span_number n) -> atomic<span_number>& { return spans[n].link; };
  for (span_number n = 1; n <= count; ++n) {
    spans[n].number = n;
    pool.put(spans[n], n % real_spans::count, n, links);
  }
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      std::vector<span_number> mine;
      for (int i = 0; i < 100'000; ++i) {
        if (mine.size() < 40 && random() % 2) {
          if (const span_number n = pool.get(random() % real_spans::count, t, links)) {
            ASSERT_EQ(0, held[n].exchange(1));
            mine.push_back(n);
          }
        } else if (!mine.empty()) {
          const span_number n = mine.back();
          mine.pop_back();
          held[n] = 0;
          pool.put(spans[n], random() % real_spans::count, t, links);
        }
        if (t == 0 && i % 1000 == 0) pool.each(links, [](span_number n) { ASSERT_EQ(0, held[n].load()); });
      }
      for (span_number n : mine) {
        held[n] = 0;
        pool.put(spans[n], 0, t, links);
      }
    });
  for (auto& t : threads) t.join();
  unsigned found = 0;
  while (pool.get(0, 0, links)) ++found;
  EXPECT_EQ(count, found);
}

// ---- LABs by core -------------------------------------------------------------------------------------------------------

TEST_F(scalloc_cores, threads_of_a_core_share_a_LAB) {
  heap h(with(lab_model, 1));
  void* const p = h.allocate(256);
  const unsigned cores = h.front().pool().cores();
  const void* const mine = h.own()->shared;
  ASSERT_NE(nullptr, mine);
  std::vector<std::thread> waiting;
  std::atomic<unsigned> arrived{0}, sharing{0};
  for (unsigned i = 0; i < 2 * cores; ++i)
    waiting.push_back(h.thread([&] {
      void* const q = h.allocate(256);
      if (h.own()->shared == mine) {
        ++sharing;
        EXPECT_EQ(span_of(h, p).owner.load(order::relaxed), span_of(h, q).owner.load(order::relaxed));
        EXPECT_EQ(0u, h.own()->remote_frees);
      }
      ++arrived;
      while (arrived.load() < 2 * cores) std::this_thread::yield();
      h.free(q);
    }));
  for (auto& t : waiting) t.join();
  EXPECT_EQ(2u, sharing.load());
  h.it.validate();
  h.free(p);
}

TEST_F(scalloc_cores, the_last_thread_of_a_core_ends_its_LAB) {
  heap h(with(lab_model, 1));
  void* p = nullptr;
  h.in_a_thread([&] { p = h.allocate(256); });
  EXPECT_EQ(span_state::floating, state_of(h, p));
  h.free(p);
  EXPECT_EQ(span_state::free, state_of(h, p));
}

// ---- section 4: span-internal fragmentation ----------------------------------------------------------------------------

std::size_t fragmentation(heap& h) {
  std::size_t f = 0;
  for (span_number n = 1; n <= h.front().arena().taken(); ++n) {
    const span& s = h.front().arena().at(n);
    if (s.epoch.load(order::relaxed).state() < span_state::hot) continue;
    f += (s.local.load(order::relaxed).count() + s.remote.load(order::relaxed).count()) *
         size_classes::block_size[s.cls.load(order::relaxed)];
  }
  return f;
}

// After every operation of a trace. The paper prints f - u for the last free (3); but f has the other blocks of that span
// alone, u - size, and they are what goes: f - u + size. It also has no hot spans that become empty: they stay.
TEST_F(scalloc_fragmentation, follows_equations_1_to_4) {
  heap h;
  std::mt19937 random(1234);
  struct held {
    void* p;
    unsigned c;
  };
  std::vector<held> live;
  h.free(h.allocate(16));
  std::size_t f = fragmentation(h);
  unsigned last_blocks = 0, new_spans = 0;
  for (int i = 0; i < 60'000; ++i) {
    const bool growing = (i / 5000) % 2 == 0;
    if (live.empty() || random() % 100 < (growing ? 65 : 35)) {
      const unsigned c = random() % 4 == 0 ? 17 + random() % 6 : 1 + random() % 16;
      const std::size_t size = size_classes::block_size[c], u = real_spans::blocks[c] * size;
      const auto taken = h.own()->spans_taken;
      live.push_back({h.allocate(size), c});
      const bool no_usable_span = h.own()->spans_taken != taken;
      new_spans += no_usable_span;
      f = no_usable_span ? f + u - size : f - size;  // (1), (2)
    } else {
      std::swap(live[random() % live.size()], live.back());
      const held b = live.back();
      live.pop_back();
      const std::size_t size = size_classes::block_size[b.c], u = real_spans::blocks[b.c] * size;
      const auto given = h.own()->spans_given;
      h.free(b.p);
      const bool last_block = h.own()->spans_given != given;
      last_blocks += last_block;
      f = last_block ? f - u + size : f + size;  // (3), (4)
    }
    ASSERT_EQ(f, fragmentation(h)) << i;
  }
  EXPECT_GT(last_blocks, 50u);
  EXPECT_GT(new_spans, 50u);
  for (const held& b : live) h.free(b.p);
}

// ---- what goes wrong -----------------------------------------------------------------------------------------------------

// What nobody has written to since it was free may be copied: the block that has it now is a live one all the same.
TEST_F(scalloc_misuse, is_not_told_of_a_live_block_that_is_a_copy_of_a_free_one) {
  heap h;
  std::vector<void*> a = many(h, per_span + 3, 256);  // of a span that is not hot, and of one that is
  for (const unsigned from : {0u, per_span}) {
    void *const free = a[from], *const live = a[from + 1], *const another = a[from + 2];
    h.free(free);
    for (void* const p : {live, another}) std::memcpy(p, free, sizeof(mem::block));
    ASSERT_TRUE(static_cast<mem::block*>(live)->looks_free(h.front().secret()));
    EXPECT_EQ(256u, h.it.usable_size(live));
    EXPECT_EQ(live, h.it.reallocate(live, 200));
    h.in_a_thread([&] { h.free(live); });
    h.free(another);
    EXPECT_DEATH(h.free(live), "polder: double free of ") << "on the list of the others";
    EXPECT_DEATH(h.free(another), "polder: double free of ") << "on the owner's";
    EXPECT_DEATH(h.in_a_thread([&] { h.free(free); }), "polder: double free of ") << "behind another";
  }
  for (unsigned i = 3; i < per_span; ++i) h.free(a[i]);
  h.validate();
}

TEST_F(scalloc_misuse, is_told) {
  heap h;
  std::vector<void*> a = many(h, per_span + 1, 256);
  auto* const p = static_cast<char*>(a[5]);
  EXPECT_DEATH(h.free(p + 16), "polder: misaligned free of ");
  EXPECT_DEATH((h.free(p), h.free(p)), "polder: double free of ");
  EXPECT_DEATH(h.free(p + MiB), "polder: invalid free of ");
  EXPECT_DEATH(h.free(&span_of(h, p)), "polder: .*free of ") << "a header";
  EXPECT_DEATH((h.free(p), h.it.usable_size(p)), "polder: double free of ");
  EXPECT_DEATH((h.free(p), h.it.reallocate(p, 200)), "polder: double free of ");
  EXPECT_DEATH(h.free(static_cast<char*>(a.back()) + 4096), "polder: double free of ") << "never handed out";
  EXPECT_DEATH(
      {
        for (void* q : a) h.free(q);
        h.free(a[3]);  // its span is in the pool
      },
      "polder: double free of ");
  EXPECT_DEATH(
      {
        h.free(a.back());  // of the hot span
        std::memset(a.back(), 'x', 16);
        h.allocate(256);
      },
      "polder: corrupted free block");
  for (void* q : a) h.free(q);
}

TEST_F(scalloc_fork, a_child_goes_on_with_what_others_had) {
  heap h;
  std::vector<void*> mine = many(h, 3 * per_span, 256);
  std::vector<void*> others;
  std::thread other([&] {
    others = many(h, 3 * per_span, 256);
    for (unsigned i = 0; i < 110; ++i) h.free(others[i]);
    const os::ending child = os::forked([&] {
      h.it.after_fork_child();
      for (void* p : mine) h.free(p);
      for (unsigned i = 110; i < others.size(); ++i) h.free(others[i]);
      for (void* p : many(h, 1000, 256)) h.free(p);
      h.it.validate();
      return h.now().allocated == 0 ? 0 : 1;
    });
    EXPECT_EQ(os::fine, child);
    h.it.leave_thread();
  });
  other.join();
  for (unsigned i = 110; i < others.size(); ++i) h.free(others[i]);
  for (void* p : mine) h.free(p);
}

// Two LABs that have begun as often count their sets' generations alike.
TEST_F(scalloc_fork, a_span_of_sets_that_were_torn_is_in_none_of_its_adopter) {
  heap h;
  h.free(h.allocate(16));
  std::vector<void*> a;
  std::thread([&] {
    a = many(h, 2 * per_span + 1, 256);
    for (unsigned i = 0; i < per_span - 1; ++i) h.free(a[i]);
    for (unsigned i = 0; i < 110; ++i) h.free(a[per_span + i]);
    EXPECT_EQ(h.own()->own.sets[size_classes::of(256)].oldest(), &span_of(h, a[0]));
    EXPECT_TRUE(h.own()->enter());
    os::lock(h.own()->own.lock);  // and there it stays
  }).join();
  h.it.after_fork_child();  // of this thread's child, in which the other is not
  h.free(a[per_span - 1]);
  ASSERT_EQ(nullptr, h.own()->own.sets[size_classes::of(256)].oldest());
  EXPECT_EQ(span_state::free, state_of(h, a[0]));
  for (unsigned i = per_span + 110; i < a.size(); ++i) h.free(a[i]);
  for (unsigned i : {per_span, 2 * per_span}) EXPECT_EQ(span_state::free, state_of(h, a[i]));
  EXPECT_EQ(0u, h.now().allocated);
}

TEST_F(scalloc_fork, blocks_that_were_threaded_and_not_listed_are_threaded_again) {
  heap h;
  std::vector<void*> a(1, h.allocate(256));
  span& s = span_of(h, a[0]);
  while (!s.local.load(order::relaxed).none_listed()) a.push_back(h.allocate(256));
  ASSERT_LT(a.size(), per_span);
  s.bumped.store(s.bumped.load(order::relaxed) + 4 * KiB, order::relaxed);  // by who is gone
  while (a.size() != per_span) a.push_back(h.allocate(256));
  for (void* p : a) {
    EXPECT_EQ(&s, &span_of(h, p));
    std::memset(p, 1, 256);
  }
  EXPECT_EQ(0u, s.local.load(order::relaxed).count());
  for (void* p : a) h.free(p);
  h.validate();
}

// ---- the ablations -------------------------------------------------------------------------------------------------------

TEST_F(scalloc_variants, without_madvise_empty_spans_keep_their_memory) {
  heap_of<scalloc_no_madvise_sheet> h;
  std::vector<void*> a(40);
  for (void*& p : a) std::memset(p = h.allocate(32 * KiB), 1, 32 * KiB);
  for (void* p : a) h.free(p);
  EXPECT_TRUE(resident(a[0]));
}

TEST_F(scalloc_variants, without_a_span_pool_there_is_one_stack) {
  heap_of<scalloc_no_span_pool_sheet> h;
  h.free(h.allocate(1));
  EXPECT_EQ(1u, h.front().pool().cores());
}

TEST_F(scalloc_variants, reclaimed_in_allocation) {
  heap_of<scalloc_reclaim_in_allocation_sheet> h;
  std::vector<void*> a(3 * per_span + 1);
  for (void*& p : a) p = h.allocate(256);
  for (void* p : a) h.free(p);
  EXPECT_EQ(0u, h.own()->spans_given) << "empty, and still in the set";
  for (void*& p : a) p = h.allocate(256);
  EXPECT_GE(h.own()->spans_given, 3u);
  for (void* p : a) h.free(p);
}

template <class Sheet>
struct scalloc_stress : spacious {};
using sheets = some_types<scalloc_sheet, scalloc_no_madvise_sheet, scalloc_no_virtual_spans_sheet,
                          scalloc_no_span_pool_sheet, scalloc_reclaim_in_allocation_sheet>;
TYPED_TEST_SUITE(scalloc_stress, sheets);

TYPED_TEST(scalloc_stress, threads_that_hand_blocks_around_and_end) {
  for (std::uint64_t model : {0u, 1u}) {
    heap_of<TypeParam> h(with<TypeParam>(lab_model, model));
    static std::atomic<unsigned char*> slots[512];
    for (auto& s : slots) s = nullptr;
    for (int round = 0; round < 3; ++round) {
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < 4; ++t)
        threads.push_back(h.thread([&h, t, round] {
          std::minstd_rand random(t * 77 + unsigned(round) + 1);
          for (int i = 0; i < 20'000; ++i) {
            const unsigned c = random() % 100 == 0 ? 1 + random() % 28 : 1 + random() % 18;
            const std::size_t n = size_classes::block_size[c];
            auto* p = static_cast<unsigned char*>(h.allocate(n));
            ASSERT_NE(nullptr, p);
            p[0] = p[n - 1] = static_cast<unsigned char>(c);
            p = slots[random() % 512].exchange(p);
            if (p) {
              ASSERT_EQ(p[0], p[h.it.usable_size(p) - 1]);
              h.free(p);
            }
          }
        }));
      for (auto& t : threads) t.join();
      h.it.validate();
    }
    for (auto& s : slots)
      if (unsigned char* p = s.exchange(nullptr)) h.free(p);
    EXPECT_EQ(0u, h.now().allocated);
    h.it.leave_thread();
    h.it.validate();
    EXPECT_EQ(0u, h.now().spans) << "every span is back";
  }
}

}  // namespace
}  // namespace polder::heap
