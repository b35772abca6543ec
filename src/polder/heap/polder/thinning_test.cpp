// Pages of spans in use that go back to the system, and come again.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <polder/heap/polder/outside.hpp>
#include <polder/heap/polder/served_test.hpp>
#include <polder/mem/span_pages.hpp>
#include <polder/os/advice_test.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap {
namespace {

using blocks = std::vector<void*>;

// A heap with spans of which few blocks are out.
struct sparse : served {
  explicit sparse(const options& o = usual) : served(o) {}

  static const char* why_not() {
    if (page_of_tests() * 4 > mem::grain_size) return "pages as large as a span";
    return os::lacks_advice();
  }

  blocks make(std::size_t n, std::size_t bytes) {
    blocks all;
    for (std::size_t had = 0; had < bytes; had += n) {
      all.push_back(allocate(n));
      std::memset(all.back(), int(all.size()), n);
    }
    return all;
  }
  // Frees all but each `of`-th, and tells which stay, with what they hold.
  blocks keep_one(const blocks& all, std::size_t of) {
    blocks kept;
    for (std::size_t i = 0; i != all.size(); ++i) i % of == of / 2 ? kept.push_back(all[i]) : free(all[i]);
    return kept;
  }
  bool is_left_alone() { return heap.read_modes().background != background_mode::runs; }
  bool is_thin(const void* p) { return mem::word::is_thin(word_of(p)); }
  std::size_t thin_ones(const blocks& all) {
    std::set<mem::grain> found;
    for (const void* p : all)
      if (is_thin(p)) found.insert(grain_of(p));
    return found.size();
  }
  bool is_returned(const void* p) {
    const auto at = (address(p) & (mem::grain_size - 1)) / page;
    return (span_of(p).returned.load(order::relaxed) >> at & 1) != 0;
  }

  const std::size_t page = page_of_tests();
  const bool of_few_pages = mem::grain_size / page < 16;  // a span, which then is sparse with two blocks at most
};

bool holds(const void* p, std::size_t n) {
  const auto* const bytes = static_cast<const unsigned char*>(p);
  return std::memcmp(bytes, bytes + 1, n - 1) == 0;
}
bool all_zero(const void* p, std::size_t n) { return holds(p, n) && *static_cast<const unsigned char*>(p) == 0; }

TEST(thinning, trim_gives_free_pages_of_spans_in_use_back) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  const blocks all = h.make(64, 4 * MiB);
  const blocks kept = h.keep_one(all, 1024);
  const statistics before = h.now();
  const std::size_t bytes = h.heap.trim(0);
  const statistics after = h.now();
  EXPECT_EQ(before.resident - after.resident, bytes);
  EXPECT_GE(h.thin_ones(kept), kept.size() / 2);
  EXPECT_LE(after.active, before.active / 4);
  EXPECT_LT(after.resident, before.resident / 2);
  EXPECT_EQ(before.allocated, after.allocated);
  std::size_t gone = 0;
  for (void* p : all)
    if (h.heap.owns(p) && h.is_thin(p) && h.is_returned(p)) {
      unsigned char in = 1;
      void* const page = at_address(align_down(address(p), os::page_size()));
      gone += ::mincore(page, 1, &in) == 0 && (in & 1) == 0;
    }
  EXPECT_GT(gone, all.size() / 2);
  for (const void* p : kept) EXPECT_TRUE(holds(p, 64));
  h.validate();
  for (void* p : kept) h.free(p);
}

TEST(thinning, what_was_given_back_is_nobodys_waste) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  const blocks kept = h.keep_one(h.make(64, 64 * KiB), 1024);
  const mem::sampled_block survivor{kept[0], 64, 0};
  EXPECT_EQ(mem::grain_size - 64, h.heap.waste_beside(survivor));
  h.heap.trim(0);
  const unsigned went = unsigned(std::popcount(h.span_of(kept[0]).returned.load(order::relaxed)));
  EXPECT_GT(went, 0u);
  EXPECT_EQ(mem::grain_size - 64 - went * h.page, h.heap.waste_beside(survivor));
}

TEST(thinning, what_went_is_handed_out_again_each_block_once) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  std::mt19937 random;
  for (unsigned c = 1; c <= classes::count; ++c) {
    const std::size_t n = classes::block_size[c];
    sparse h;
    blocks kept = h.make(n, 3 * mem::grain_size);
    std::shuffle(kept.begin(), kept.end(), random);
    const std::size_t few = n < 4096 ? 9 : 3;
    for (; kept.size() > few; kept.pop_back()) h.free(kept.back());
    h.heap.trim(0);
    h.validate();
    const std::size_t spans = h.now().spans;
    std::set<void*> out(kept.begin(), kept.end());
    for (std::size_t i = 0; i != capacity(c); ++i) {
      void* const p = h.allocate(n);
      ASSERT_TRUE(out.insert(p).second) << n;
      std::memset(p, 1, n);
      if (i % 64 == 0) h.validate();
    }
    EXPECT_LE(h.now().spans, spans + 1) << n;
    for (const void* p : kept) EXPECT_TRUE(holds(p, n)) << n;
    h.validate();
    for (void* p : out) h.free(p);
  }
}

TEST(thinning, what_is_freed_later_goes_with_what_it_shared_a_page_with) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  constexpr std::uint32_t n = 3072;  // blocks that lie on two pages
  sparse h;
  const blocks all = h.make(n, mem::grain_size);
  const mem::grain g = h.grain_of(all[13]);
  void* const last = all[13];
  for (std::size_t i = 0; i != all.size(); ++i)
    if (i < 6 || i > 13 || (h.of_few_pages && i != 6 && i != 13)) h.free(all[i]);
  h.heap.trim(0);
  ASSERT_TRUE(h.is_thin(last));
  for (std::size_t i = 6; i != 13; ++i)
    if (!h.of_few_pages || i == 6) h.free(all[i]);
  h.heap.trim(0);
  mem::span_pages pages(n, h.page);
  for (const void* p : all)
    if (p != last && h.grain_of(p) == g) pages.note_free(std::uint32_t(address(p) & (mem::grain_size - 1)) / n);
  EXPECT_EQ(pages.wholly_free(), h.span_of(last).returned.load(order::relaxed));
  h.validate();
}

TEST(thinning, a_span_that_is_put_aside_with_nothing_on_its_list_is_not_full) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  const blocks kept = h.keep_one(h.make(64, mem::grain_size), 1000);
  h.heap.trim(0);
  while (h.span_of(kept[0]).has_free()) h.allocate(64);
  ASSERT_TRUE(h.is_thin(kept[0]));
  h.heap.trim(0);
  h.validate();
  const std::size_t spans = h.now().spans;
  h.allocate(64);
  EXPECT_EQ(spans, h.now().spans);
}

TEST(thinning, the_next_span_to_be_looked_at_may_go_meanwhile) {
  sparse h;
  const blocks all = h.make(2 * KiB, 4 * mem::grain_size);
  const mem::grain next = h.grain_of(all[40]);
  h.own().thin_next = next;
  for (void* p : all)
    if (h.grain_of(p) == next) h.free(p);
  EXPECT_NE(next, h.own().thin_next);
  EXPECT_NE(0u, h.own().thin_next);
}

TEST(thinning, zeroed_blocks_come_from_there_too) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  const blocks kept = h.keep_one(h.make(256, mem::grain_size), 200);
  h.heap.trim(0);
  ASSERT_TRUE(h.is_thin(kept[0]));
  while (h.is_thin(kept[0])) {
    const auto* const p = static_cast<const unsigned char*>(h.heap.allocate_zeroed(256));
    for (unsigned i = 0; i != 256; ++i) ASSERT_EQ(0, p[i]);
  }
}

TEST(thinning, a_second_free_is_noticed_where_the_key_went_with_the_page) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  const blocks all = h.make(64, mem::grain_size);
  h.keep_one(all, 1000);
  h.heap.trim(0);
  ASSERT_TRUE(h.is_thin(all[0]));
  void* const p = *std::find_if(all.begin(), all.end(), [&](void* b) { return h.is_returned(b); });
  EXPECT_EQ(aborted, mistaken([&] { h.free(p); }));
  EXPECT_EQ(aborted, mistaken([&] { h.heap.deallocate_sized(p, 64); }));
  EXPECT_EQ(aborted, mistaken([&] { static_cast<void>(h.heap.reallocate(p, 60)); }));
  EXPECT_EQ(aborted, mistaken([&] { static_cast<void>(h.heap.usable_size(p)); }));
  EXPECT_EQ(aborted, mistaken([&] { h.in_a_thread([&] { h.free(p); }); }));
  EXPECT_EQ(aborted, mistaken([&] { h.in_a_thread([&] { h.allocate(16), h.free(p); }); }));
  EXPECT_EQ(aborted, mistaken([&] {
              h.heap.leave_thread();
              test_host::gone = true;
              h.free(p);
            }));
}

TEST(thinning, a_free_block_that_was_written_to_is_noticed_on_the_way) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  const blocks all = h.make(64, mem::grain_size);
  h.keep_one(all, 1000);
  EXPECT_EQ(aborted, mistaken([&] {
              std::memset(all[7], 1, 16);
              h.heap.trim(0);
            }));
}

TEST(thinning, blocks_that_stayed_are_freed_by_anybody) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  const blocks kept = h.keep_one(h.make(128, MiB), h.of_few_pages ? 300 : 60);
  h.heap.trim(0);
  EXPECT_GE(h.thin_ones(kept), 8u);
  EXPECT_EQ(aborted, mistaken([&] { h.heap.deallocate_sized(kept.back(), 40); }));
  for (std::size_t i = 0; i != kept.size(); ++i) {
    void* const p = kept[i];
    switch (i % 4) {
      case 0: h.free(p); break;
      case 1: h.heap.deallocate_sized(p, 128); break;
      case 2: h.free(h.heap.reallocate(p, 1000)); break;
      case 3: h.in_a_thread([&] { h.free(p); }); break;
    }
  }
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().allocated);
  h.validate();
}

TEST(thinning, a_thin_span_that_is_adopted_stays_thin) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  h.allocate(16);
  blocks kept;
  h.in_a_thread([&] { kept = h.keep_one(h.make(64, mem::grain_size), 1000); });
  h.heap.trim(0);
  ASSERT_TRUE(h.is_thin(kept[0]));
  const mem::lab_number before = h.owner_of(kept[0]);
  h.allocate(64);
  ASSERT_NE(before, h.owner_of(kept[0]));
  EXPECT_TRUE(h.is_thin(kept[0]));
  h.validate();
  while (h.is_thin(kept[0])) h.allocate(64);
  h.validate();
}

TEST(thinning, pages_that_the_system_keeps_are_as_they_were) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              sparse h;
              const blocks all = h.make(64, MiB), kept = h.keep_one(all, 500);
              if (!os::answer(SYS_madvise, EINVAL)) return 1;
              h.heap.trim(0);
              if (h.thin_ones(kept) != 0) return 2;
              h.validate();
              std::set<void*> out(kept.begin(), kept.end());
              for (std::size_t i = kept.size(); i != all.size(); ++i)
                if (!out.insert(h.allocate(64)).second) return 3;
              return 0;
            }));
}

// It is asked again when a step of decay begins.
TEST(thinning, what_the_system_kept_once_it_may_have_later) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h({.arena_size = GiB, .decay_ms = 2, .cgroup = false, .background = false});
  const blocks kept = h.keep_one(h.make(64, mem::grain_size), 1000);
  void* const locked = at_address(align_down(address(kept[0]), mem::grain_size));
  if (::syscall(SYS_mlock, locked, mem::grain_size) != 0) GTEST_SKIP() << "no lock to be had";
  h.heap.trim(0);
  ASSERT_FALSE(h.is_thin(kept[0]));
  ::syscall(SYS_munlock, locked, mem::grain_size);
  const lab& own = h.own();
  for (const std::uint32_t seen = own.seen.load(order::relaxed); own.seen.load(order::relaxed) - seen < 2;)
    for (void* p : h.make(5000, MiB)) h.free(p);
  h.heap.trim(0);
  EXPECT_TRUE(h.is_thin(kept[0]));
  h.validate();
}

// The span goes to the pool as a whole then, and is no list of blocks.
TEST(thinning, a_span_that_runs_empty_where_the_system_keeps_its_pages) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              sparse h;
              const blocks kept = h.keep_one(h.make(64, MiB), 1024);
              h.heap.trim(0);
              if (h.thin_ones(kept) == 0) return 1;
              if (!os::answer(SYS_madvise, 0)) return 2;
              for (void* p : kept) h.free(p);
              h.validate();
              std::set<void*> out;
              for (unsigned i = 0; i != 2 * MiB / 64; ++i)
                if (!out.insert(h.allocate(64)).second) return 3;
              return 0;
            }));
}

// ---- what counts -----------------------------------------------------------------------------------------------------

TEST(thinning, what_went_counts_for_nobody) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  h.free(h.allocate(64));
  h.heap.trim(0);
  const std::size_t base = h.now().committed;
  const blocks kept = h.keep_one(h.make(64, 7 * MiB / 4), 1024);
  const std::size_t full = h.now().committed;
  const std::size_t bytes = h.heap.trim(0);
  EXPECT_EQ(full - bytes, h.now().committed);
  EXPECT_LT(h.now().committed, base + MiB);
  for (void* p : kept) h.free(p);  // the grains of thin spans go at once
  EXPECT_LE(h.now().committed, base + 2 * mem::grain_size);
  h.heap.trim(0);
  EXPECT_EQ(base, h.now().committed);
}

TEST(thinning, under_a_cap_a_page_is_had_of_the_system_like_any_other) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h;
  const blocks kept = h.keep_one(h.make(64, MiB), 1000);
  h.heap.trim(0);
  const std::size_t most = h.now().committed + 5 * h.page;
  ASSERT_TRUE(h.heap.set_limit(most));
  std::size_t had = 0;
  while (h.allocate(64) != nullptr) ++had;
  EXPECT_GE(had, 5 * h.page / 64 / 2);
  EXPECT_LE(h.now().committed, most);
  EXPECT_EQ(nullptr, h.allocate(64));
  h.validate();
  h.heap.set_limit(mem::budget::none);
  EXPECT_NE(nullptr, h.allocate(64));
  for (const void* p : kept) EXPECT_TRUE(holds(p, 64));
}

// Pages of its own count already: those of the blocks that it never handed out.
TEST(thinning, under_a_cap_a_thin_span_hands_out_what_it_never_did) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  constexpr unsigned c = mem::size_class::stepped::of(64);
  sparse h;
  const blocks all = h.make(64, mem::grain_size / 2), kept = h.keep_one(all, 500);
  h.heap.trim(0);
  mem::span& s = h.span_of(kept[0]);
  const std::size_t left = (s.usable - s.bumped) / 64;
  ASSERT_TRUE(h.is_thin(kept[0]) && left != 0);
  ASSERT_TRUE(h.heap.set_limit(h.now().committed));
  std::set<void*> out(kept.begin(), kept.end());
  while (void* const p = h.heap.allocate_zeroed(64)) {
    ASSERT_TRUE(out.insert(p).second && all_zero(p, 64));
    std::memset(p, 1, 64);
    if (out.size() % 64 == 0) h.validate();
  }
  EXPECT_GE(out.size(), left + kept.size());
  EXPECT_TRUE(s.bumped == s.usable && h.is_thin(kept[0]));
  for (const void* p : kept) EXPECT_TRUE(holds(p, 64));
  h.validate();
  void* const gone = *std::find_if(all.begin(), all.end(), [&](void* b) { return h.is_returned(b); });
  EXPECT_EQ(aborted, mistaken([&] { h.free(gone); }));
  h.free(*out.rbegin());
  out.erase(std::prev(out.end()));
  h.validate();
  h.heap.set_limit(mem::budget::none);
  while (out.size() != capacity(c)) ASSERT_TRUE(out.insert(h.allocate(64)).second);
  EXPECT_FALSE(h.is_thin(kept[0]));
  h.validate();
}

// The one that lacks a page is full but for that, and comes first; the other has nothing on its list.
TEST(thinning, under_a_cap_another_span_does_that_has_handed_out_a_few) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  constexpr unsigned c = mem::size_class::stepped::of(64);
  sparse h;
  const blocks all = h.make(64, capacity(c) * 64);
  std::set<void*> others{h.allocate(64)};
  const blocks kept = h.keep_one(all, 1000);
  const auto use_up_the_list = [&] {
    do others.insert(h.allocate(64));
    while (h.span_of(*others.begin()).has_free());
    h.heap.trim(0);  // so that it is put aside
  };
  use_up_the_list();
  const mem::span& other = h.span_of(*others.begin());
  ASSERT_TRUE(h.is_thin(kept[0]) && &other != &h.span_of(kept[0]));
  ASSERT_TRUE(h.heap.set_limit(h.now().committed));
  while (h.span_of(kept[0]).has_free()) ASSERT_NE(nullptr, h.allocate(64));
  use_up_the_list();
  while (others.size() != capacity(c)) {
    void* const p = h.allocate(64);
    ASSERT_NE(nullptr, p) << others.size() << " of " << capacity(c);
    ASSERT_TRUE(others.insert(p).second);
  }
  EXPECT_EQ(other.bumped, other.usable);
  EXPECT_EQ(nullptr, h.allocate(64));
  h.validate();
}

// Whatever was done for the one before: a trim comes first for each block.
TEST(thinning, under_a_cap_what_is_free_goes_for_a_page_each_time) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  constexpr unsigned c = mem::size_class::stepped::of(64);
  static sparse* here;
  static void* spare;
  sparse h;
  here = &h;
  const blocks all = h.make(64, capacity(c) * 64), kept = h.keep_one(all, 1000);
  void* const large = h.allocate(MiB);
  h.heap.trim(0);
  mem::span& s = h.span_of(kept[0]);
  ASSERT_TRUE(h.is_thin(kept[0]));
  ASSERT_TRUE(h.heap.set_limit(h.now().committed));
  do spare = h.allocate(64);
  while (s.has_free());
  h.heap.on_limit([](std::size_t) {
    if (spare == nullptr) return false;
    here->free(std::exchange(spare, nullptr));
    return true;
  });
  EXPECT_NE(nullptr, h.allocate(64));
  EXPECT_EQ(nullptr, spare);
  h.heap.on_limit(nullptr);
  h.free(large);
  ASSERT_NE(0u, h.now().cached);
  EXPECT_NE(nullptr, h.allocate(64));
  h.validate();
}

// ---- when ------------------------------------------------------------------------------------------------------------

TEST(thinning, a_thread_that_works_thins_what_it_no_longer_fills) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  sparse h({.arena_size = GiB, .decay_ms = 2, .background = false});
  const blocks kept = h.keep_one(h.make(64, 4 * MiB), 1024);
  while (h.thin_ones(kept) < kept.size() / 2)
    for (void* p : h.make(5000, MiB)) h.free(p);
  h.validate();
}

// A thread with many spans that sleeps, and wakes when it is told to.
struct sleeper {
  static constexpr options tended{.arena_size = GiB, .decay_ms = 2};
  static constexpr std::size_t bytes = 64 * MiB, of = 1024;  // each `of`-th block stays

  explicit sleeper(sparse& in) : h(in) {}
  ~sleeper() {
    wake();
    thread.join();
  }
  static const char* why_not() {
    if (const char* why = sparse::why_not()) return why;
    return os::register_heavy_fence() ? nullptr : "no membarrier here";
  }
  template <class F>
  void begin(F f) {
    thread = h.thread([this, f] {
      f(*this);
      sleep();
      for (void* p : kept) h.free(p);
    });
    await(1);
  }
  void sleep() {  // the thread itself
    own = &h.own();
    const int now = ++slept;
    slept.notify_all();
    woken.wait(now - 1);
  }
  void wake() { ++woken, woken.notify_all(); }
  void await(int times) {
    for (int now; (now = slept.load()) != times;) slept.wait(now);
  }
  // Until it is so, or the heap's own thread has ended. False: there is none here.
  template <class F>
  bool comes(F is_so) {
    for (;;) {
      const modes now = h.heap.read_modes();
      if (is_so()) return true;
      if (now.background_error != 0) return false;
      if (now.background != background_mode::runs) {
        ADD_FAILURE() << "nobody is there who would do it: " << h.thin_ones(kept) << " of " << kept.size();
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // The same when it has slept, been woken and fallen asleep again.
  template <class First, class Then>
  bool come(First first, Then then) {
    const bool both = comes(first);
    wake();
    await(2);
    return both && comes(then);
  }
  void fill_and_keep_few() { kept = h.keep_one(h.make(64, bytes), of); }
  bool is_looked_at() { return own->thinned.load(order::relaxed) == own->seen.load(order::relaxed) + 1; }
  bool is_thinned() { return h.thin_ones(kept) >= kept.size() * 3 / 4; }

  sparse& h;
  lab* own = nullptr;
  std::thread thread;
  blocks all, kept;
  std::atomic<int> slept{0}, woken{0};
};

constexpr const char* untended = "no thread of the heap's own here";

// More of them than the heap's thread looks at while it takes nothing for progress.
TEST(thinning, what_a_sleeping_thread_has_is_thinned_for_it) {
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  sparse h(sleeper::tended);
  h.allocate(16);
  sleeper s(h);
  s.begin([](sleeper& me) { me.fill_and_keep_few(); });
  if (!s.comes([&] { return s.is_thinned(); })) GTEST_SKIP() << untended;
}

TEST(thinning, what_others_free_of_it_is_thinned_too) {
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  sparse h(sleeper::tended);
  h.allocate(16);
  sleeper s(h);
  s.begin([](sleeper& me) { me.all = me.h.make(64, me.bytes); });
  const bool comes_at_all = s.comes([&] { return s.is_looked_at(); });
  s.kept = h.keep_one(s.all, s.of);
  if (!comes_at_all || !s.comes([&] { return s.is_thinned(); })) GTEST_SKIP() << untended;
}

// It frees alone, blocks of spans that are not full: it calls nothing on its way.
struct sleeper_with_open_spans : sleeper {
  using sleeper::sleeper;
  void fill_them_but_for_one(std::size_t in_all = bytes) {
    const blocks full = h.make(64, in_all);
    for (std::size_t i = 0; i != full.size(); ++i) i % of == 0 ? h.free(full[i]) : all.push_back(full[i]);
  }
};

TEST(thinning, what_it_frees_when_it_comes_back_is_thinned_too) {
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  sparse h(sleeper::tended);
  h.allocate(16);
  sleeper_with_open_spans s(h);
  s.begin([&s](sleeper& me) {
    s.fill_them_but_for_one();
    me.sleep();
    me.kept = me.h.keep_one(me.all, me.of - 1);
  });
  if (!s.come([&] { return s.is_looked_at() && h.is_left_alone(); }, [&] { return s.is_thinned(); }))
    GTEST_SKIP() << untended;
}

TEST(thinning, what_it_frees_when_it_was_inside_for_long_is_thinned_too) {
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  sparse h(sleeper::tended);
  h.allocate(16);
  sleeper_with_open_spans s(h);
  s.begin([&s](sleeper& me) {
    s.fill_them_but_for_one();
    while (me.h.own().door.announce() && !me.h.own().door.is_open()) {
      me.h.own().door.exit();
      me.h.free(me.h.allocate(16));
    }
    me.sleep();
    me.h.own().door.exit();
    me.kept = me.h.keep_one(me.all, me.of - 1);
  });
  if (!s.come([&] { return h.is_left_alone(); }, [&] { return s.is_thinned(); })) GTEST_SKIP() << untended;
}

// Half of the spans are sparse at first. The others become so while the heap's thread has passed some of them.
TEST(thinning, what_it_frees_amid_a_round_is_thinned_too) {
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  sparse h(sleeper::tended);
  h.allocate(16);
  sleeper s(h);
  constexpr std::size_t few = 8;  // far less than are thinned at a time
  s.begin([](sleeper& me) {
    const blocks full = me.h.make(64, me.bytes);
    for (std::size_t i = 0; i != full.size(); ++i) {
      const bool stays = i / me.of % 2 == 0 ? i % me.of == 0 : i % me.of != 0;
      if (!stays) me.h.free(full[i]);
      else (i / me.of % 2 == 0 ? me.kept : me.all).push_back(full[i]);
    }
    me.sleep();
    const blocks more = me.h.keep_one(me.all, me.of - 1);
    me.kept.insert(me.kept.end(), more.begin(), more.end());
  });
  if (!s.come([&] { return h.thin_ones(s.kept) != 0; }, [&] { return h.thin_ones(s.kept) + few >= s.kept.size(); }))
    GTEST_SKIP() << untended;
}

// Its own round has passed some of them by then, for it takes spans of other classes.
TEST(thinning, what_it_frees_amid_its_own_round_is_thinned_too) {
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  sparse h(sleeper::tended);
  h.allocate(16);
  sleeper_with_open_spans s(h);
  s.begin([&s](sleeper& me) {
    s.fill_them_but_for_one();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (std::size_t n = 80; n != 208; n += 16) me.h.allocate(n);  // a sixteenth of a round each
    me.kept = me.h.keep_one(me.all, me.of - 1);
  });
  if (!s.comes([&] { return s.is_thinned(); })) GTEST_SKIP() << untended;
}

// It was seen at each of the last looks, for it takes what it has, again and again: nothing came or went.
TEST(thinning, what_it_frees_after_it_was_seen_for_long_is_thinned_too) {
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  constexpr std::uint32_t decay_ms = 200;
  sparse h({.arena_size = GiB, .decay_ms = decay_ms});
  h.allocate(16);
  sleeper_with_open_spans s(h);
  s.begin([&](sleeper& me) {
    constexpr std::size_t half = 32 * KiB;
    constexpr int most = 40;  // the heap's thread goes after eight looks, two of these each, if it goes
    s.fill_them_but_for_one(20 * MiB);
    const blocks halves = me.h.make(half, 2 * most * half);
    for (std::size_t i = 0; i < halves.size(); i += 2) me.h.free(halves[i]);
    for (int i = 0; i != most && !h.is_left_alone(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(decay_ms / 4));
      me.h.allocate(half);
    }
    me.kept = me.h.keep_one(me.all, me.of - 1);
  });
  if (!s.comes([&] { return s.is_thinned(); })) GTEST_SKIP() << untended;
}

// As many as are looked at in nine claims give nothing, and that is not yet nothing to do.
TEST(thinning, a_round_that_gives_nothing_for_long_comes_to_its_end) {
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  sparse h(sleeper::tended);
  h.allocate(16);
  sleeper s(h);
  s.begin([](sleeper& me) {
    for (int i = 0; i != 2 * 10'000; ++i) me.h.allocate(32 * KiB);
  });
  if (!s.comes([&] { return s.is_looked_at(); })) GTEST_SKIP() << untended;
}

// The child's threads end with it; the heap's own is not to be one of them.
TEST(thinning, after_a_vfork_there_is_somebody_who_does_it) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;  // which has it fork
  if (const char* why = sleeper::why_not()) GTEST_SKIP() << why;
  sparse h(sleeper::tended);
  const blocks all = h.make(64, 32 * MiB);
  h.thread([&] { h.free(h.allocate(16)); }).join();
  while (!h.is_left_alone()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  int status = 0;
  const pid_t child = ::vfork();
  if (child == 0) {
    h.free(h.allocate(MiB));
    ::_exit(0);
  }
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  sleeper s(h);
  s.begin([](sleeper& me) { me.fill_and_keep_few(); });
  if (!s.comes([&] { return s.is_thinned(); })) GTEST_SKIP() << untended;
}

// Else who works meanwhile is turned away for as long as it takes, and gives its LAB away as if the claimer had been stopped.
TEST(thinning, trim_claims_a_lab_anew_for_every_few_spans) {
  if (const char* why = sparse::why_not()) GTEST_SKIP() << why;
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  sparse h;
  static lab* theirs;
  static unsigned claims;
  claims = 0;
  std::atomic<int> turn{0};
  blocks kept;
  std::thread sleeper = h.thread([&] {
    kept = h.keep_one(h.make(64, 16 * MiB), 1024);
    theirs = &h.own();
    turn = 1;
    turn.notify_all();
    turn.wait(1);
    h.free(h.allocate(16));
    EXPECT_EQ(theirs, &h.own());
  });
  turn.wait(0);
  // Its thread as it would be if it came by each time.
  static void (*const look)() = [] {
    if (theirs->door.state() != lab_state::claimed) return;
    claims += theirs->turned_away_since.load(order::relaxed) == 0;
    theirs->turned_away_since.store(1, order::relaxed);
    os::before_advice = look;
  };
  os::before_advice = look;
  h.heap.trim(0);
  os::before_advice = nullptr;
  EXPECT_GE(claims, 3u);
  EXPECT_GE(h.thin_ones(kept), kept.size() * 3 / 4);
  turn = 2;
  turn.notify_all();
  sleeper.join();
  h.validate();
  for (void* p : kept) h.free(p);
}

TEST(thinning, a_hardened_heap_leaves_its_spans_alone) {
  options o = served::usual;
  o.hardened = true;
  sparse h(o);
  h.keep_one(h.make(64, MiB), 500);
  h.heap.trim(0);
  const statistics s = h.now();
  EXPECT_NE(0u, s.spans);
  EXPECT_EQ(s.spans * mem::grain_size, s.active - s.large);  // guarded blocks count as large
}

}  // namespace
}  // namespace polder::heap
