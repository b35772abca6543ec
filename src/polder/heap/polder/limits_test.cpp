// How much a heap may hold: the cap, the target, and who is called.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/asks_for_huge_pages_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/futex.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::heap {
namespace {

using blocks = std::vector<void*>;

constexpr std::size_t size = 1024;

// The callbacks have nothing of their own to go by.
struct limited : served {
  explicit limited(options o) : served(o) { current = this; }

  static options with(std::size_t limit, std::size_t target = 0) {
    options o = usual;
    o.limit = limit;
    o.target = target;
    return o;
  }
  bool fill(blocks& held, std::size_t n = size, std::size_t most = SIZE_MAX) {
    for (; held.size() < most; held.push_back(nullptr), held.back() = last) {
      last = allocate(n);
      if (last == nullptr) return false;
      std::memset(last, 1, n);
    }
    return true;
  }
  void free_all(blocks& held) {
    for (void* b : held) free(b);
    held.clear();
  }
  std::size_t committed() { return now().committed; }

  void* last = nullptr;
  blocks spare;
  int called = 0;
  static inline limited* current;
};

TEST(limits, what_is_committed_is_counted_and_goes_to_the_tables_and_a_LAB_again) {
  served h;
  h.free(h.allocate(1));
  const std::size_t least = h.now().committed;
  EXPECT_GE(least, h.now().metadata);
  blocks held;
  for (int i = 0; i != 4000; ++i) held.push_back(h.allocate(i % 50 == 0 ? 100'000 : size));
  void* const huge = h.allocate(40 * MiB);
  EXPECT_GE(h.now().committed, h.now().active + h.now().metadata);
  EXPECT_EQ(0u, h.now().limit);
  EXPECT_EQ(0u, h.now().target);
  h.free(huge);
  for (void* b : held) h.free(b);
  h.heap.trim(0);
  EXPECT_LE(h.now().committed, least + MiB);
}

TEST(limits, under_a_cap_blocks_run_out_and_come_again) {
  limited h(limited::with(8 * MiB));
  blocks held;
  EXPECT_FALSE(h.fill(held));
  EXPECT_EQ(8 * MiB, h.now().limit);
  const std::size_t all = held.size();
  EXPECT_GT(all * size, 6 * MiB);
  EXPECT_LE(h.committed(), 8 * MiB);
  EXPECT_EQ(nullptr, h.allocate(MiB));
  EXPECT_EQ(nullptr, h.allocate(100 * MiB));
  // Every second block, so that no span is empty: they are blocks of this class and nothing else.
  blocks kept;
  for (std::size_t i = 0; i != held.size(); ++i)
    if (i % 2 == 0) h.free(held[i]);
    else kept.push_back(held[i]);
  EXPECT_EQ(nullptr, h.allocate(MiB));
  EXPECT_FALSE(h.fill(kept));
  EXPECT_EQ(all, kept.size());
  h.free_all(kept);
  void* const large = h.allocate(4 * MiB);
  EXPECT_NE(nullptr, large);
  EXPECT_EQ(nullptr, h.allocate(8 * MiB));
  EXPECT_LE(h.committed(), 8 * MiB);
  EXPECT_TRUE(h.heap.set_limit(0));
  EXPECT_NE(nullptr, h.allocate(8 * MiB));
}

TEST(limits, what_other_threads_keep_makes_room) {
  limited h(limited::with(8 * MiB));
  blocks theirs;
  h.in_a_thread([&] { h.fill(theirs, size, 4000); });
  h.free_all(theirs);
  void* const p = h.allocate(6 * MiB);
  EXPECT_NE(nullptr, p);
  h.free(p);
}

TEST(limits, a_block_grows_up_to_the_cap_and_shrinks_below_it) {
  limited h(limited::with(64 * MiB));
  void* p = h.allocate(40 * MiB);
  std::memset(p, 3, 40 * MiB);
  EXPECT_EQ(nullptr, h.heap.reallocate(p, 70 * MiB));
  p = h.heap.reallocate(p, 50 * MiB);
  ASSERT_NE(nullptr, p);
  EXPECT_EQ(3, static_cast<char*>(p)[40 * MiB - 1]);
  EXPECT_LE(h.committed(), 64 * MiB);
  p = h.heap.reallocate(p, 100);
  ASSERT_NE(nullptr, p);
  EXPECT_EQ(3, static_cast<char*>(p)[99]);
  h.free(p);
}

TEST(limits, a_huge_block_grows_into_what_free_memory_makes_room_for_beside_it) {
  limited h(limited::with(100 * MiB));
  h.heap.on_limit([](std::size_t) {
    ++limited::current->called;
    return false;
  });
  blocks freed;
  ASSERT_TRUE(h.fill(freed, MiB, 48));
  void* p = h.allocate(40 * MiB);
  std::memset(p, 3, 40 * MiB);
  h.free_all(freed);
  ASSERT_GE(h.committed(), 80 * MiB);
  p = h.heap.reallocate(p, 65 * MiB);
  ASSERT_NE(nullptr, p);
  EXPECT_EQ(3, static_cast<char*>(p)[40 * MiB - 1]);
  EXPECT_EQ(0, h.called);
  EXPECT_LE(h.committed(), 100 * MiB);
  h.heap.on_limit(nullptr);
  h.free(p);
}

TEST(limits, who_watches_the_cap_is_asked_for_what_a_huge_block_lacks_alone) {
  limited h(limited::with(64 * MiB));
  h.heap.on_limit([](std::size_t wanted) {
    limited& l = *limited::current;
    ++l.called;
    EXPECT_EQ(30 * MiB, wanted);
    return false;
  });
  void* p = h.allocate(40 * MiB);
  EXPECT_EQ(nullptr, h.heap.reallocate(p, 70 * MiB));
  EXPECT_EQ(1, h.called);
  h.heap.on_limit(nullptr);
  EXPECT_EQ(40 * MiB, h.heap.usable_size(p));
  h.heap.set_limit(8 * MiB);
  p = h.heap.reallocate(p, 100);
  EXPECT_NE(nullptr, p) << "what becomes smaller needs no room";
  h.free(p);
}

// Whoever is inside is as one who was stopped while he emptied another's inbox: what lies there is asked for some times.
TEST(limits, what_waits_for_one_who_is_inside_is_had_when_he_has_left) {
  limited h(limited::with(8 * MiB));
  static std::atomic<int> turn;
  turn = 0;
  blocks theirs;
  std::thread other = h.thread([&] {
    h.fill(theirs, size, 5000);
    static_cast<void>(h.own().door.announce());
    turn = 1, turn.notify_all();
    turn.wait(1);
    h.own().door.exit();
    turn = 3, turn.notify_all();
    turn.wait(3);
  });
  turn.wait(0);
  h.free_all(theirs);
  EXPECT_EQ(nullptr, h.allocate(6 * MiB));
  h.heap.on_limit([](std::size_t) {
    if (turn != 1) return false;
    turn = 2, turn.notify_all();
    turn.wait(2);
    return false;
  });
  EXPECT_NE(nullptr, h.allocate(6 * MiB));
  h.heap.on_limit(nullptr);
  turn = 4, turn.notify_all();
  other.join();
}

TEST(limits, who_watches_the_cap_frees_and_is_asked_again) {
  limited h(limited::with(8 * MiB));
  h.heap.on_limit([](std::size_t wanted) {
    limited& l = *limited::current;
    ++l.called;
    EXPECT_EQ(mem::grain_size, wanted);
    if (l.spare.empty()) return false;
    // Every second one, so that no span becomes empty: what comes back are blocks of the class that is asked for.
    for (std::size_t i = 0; i < l.spare.size(); i += 2) l.free(l.spare[i]);
    l.spare.clear();
    return true;
  });
  h.fill(h.spare, size, 4000);
  blocks held;
  EXPECT_FALSE(h.fill(held));
  EXPECT_EQ(2, h.called);
  EXPECT_GT((held.size() + 2000) * size, 6 * MiB);
  EXPECT_LE(h.committed(), 8 * MiB);
  h.heap.on_limit(nullptr);
  EXPECT_EQ(nullptr, h.allocate(size));
  EXPECT_EQ(2, h.called);
}

// A LAB may need a grain itself: of some in turn one does.
TEST(limits, who_watches_the_cap_is_asked_for_the_lab_of_a_new_thread) {
  limited h(limited::with(8 * MiB));
  std::vector<lab*> of_threads;
  for (std::size_t n = 0; n != mem::grain_size / sizeof(lab) + 2; ++n) {
    h.heap.on_limit(nullptr);
    EXPECT_FALSE(h.fill(h.spare));
    of_threads.push_back(std::exchange(h.in_use::own(), &test_host::nobody<lab>));
    h.heap.on_limit([](std::size_t wanted) {
      limited& l = *limited::current;
      EXPECT_EQ(mem::grain_size, wanted);
      const bool frees = !l.spare.empty();
      l.free_all(l.spare);
      return frees;
    });
    h.free(h.allocate(size));
    EXPECT_NE(&test_host::nobody<lab>, &h.own()) << n;
  }
  h.heap.on_limit(nullptr);
  h.free_all(h.spare);
  for (lab* l : of_threads) {
    h.heap.leave_thread();
    h.in_use::own() = l;
  }
}

// A chunk that there is no room for is mapped, and unmapped again: so there is a moment between an attempt and what is made of it.
TEST(limits, who_was_refused_by_a_cap_that_is_lifted_meanwhile_tries_again) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why << ", which unmaps, too";
  EXPECT_EQ(os::fine, os::forked([] {
              limited h({.arena_size = mem::chunk_size, .decay_ms = 1'000'000, .cgroup = false});
              static volatile std::sig_atomic_t unmapped;
              unmapped = 0;
              struct sigaction action = {};
              action.sa_handler = [](int) {
                unmapped = unmapped + 1;
                if (unmapped == 2) limited::current->heap.set_limit(0);
              };
              ::sigaction(SIGSYS, &action, nullptr);
              h.allocate(size);
              const std::size_t reserved = h.now().reserved;
              while (h.now().reserved == reserved) h.allocate(mem::grain_size);  // then another chunk is there, too
              for (unsigned n = 1; n != mem::grains_per_chunk; ++n) h.allocate(mem::grain_size);
              if (!os::answer_by_signal(SYS_munmap)) return 1;
              h.heap.set_limit(h.now().committed);
              if (h.allocate(30 * KiB) == nullptr) return 2;
              return unmapped == 2 ? 0 : 3;
            }));
}

// Something that is done every two milliseconds, in a handler on the thread that waits for it: however late the system lets that go
// on, it has been done by then. Another thread might come too late.
class meanwhile {
 public:
  explicit meanwhile(void (*done)()) {
    done_ = done;
    struct sigaction action = {};
    action.sa_handler = [](int) { done_(); };
    ::sigaction(SIGALRM, &action, &before_);
    every(2'000);
  }
  ~meanwhile() {
    every(0);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  meanwhile(const meanwhile&) = delete;
  meanwhile& operator=(const meanwhile&) = delete;

 private:
  static void every(int microseconds) {
    const itimerval often{{0, microseconds}, {0, microseconds}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  static inline void (*done_)();
  struct sigaction before_;
};

// What another claims for a moment: a trim, say, of one who is refused memory himself.
TEST(limits, what_is_free_in_a_lab_that_is_claimed_is_waited_for) {
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  limited h(limited::with(8 * MiB));
  blocks held;
  EXPECT_FALSE(h.fill(held));
  for (std::size_t i = 0; i < held.size(); i += 2) h.free(std::exchange(held[i], nullptr));
  static lab* own;
  static volatile std::sig_atomic_t claimed;
  own = &h.own();
  const auto while_it_is_claimed = [&](auto f) {
    ASSERT_EQ(claim::held, own->door.try_claim([] { return os::heavy_fence(); }));
    claimed = 1;
    const meanwhile over([] {
      if (claimed != 0) claimed = own->door.end_claim() ? 0 : 2;
    });
    f();
    while (claimed == 1) os::sleep_for(1);
    EXPECT_EQ(0, claimed);
    EXPECT_EQ(own, &h.own());
  };
  while_it_is_claimed([&] { held.push_back(h.allocate(size)); });
  EXPECT_NE(nullptr, held.back());
  while_it_is_claimed([&] { held.push_back(h.heap.allocate_zeroed(size)); });
  EXPECT_NE(nullptr, held.back());
  while_it_is_claimed([&] { held.push_back(h.heap.allocate_aligned(512, size)); });
  EXPECT_NE(nullptr, held.back());
  void* batch[3] = {};
  while_it_is_claimed([&] { EXPECT_EQ(3u, h.heap.allocate_batch(size, 3, batch)); });
  held.insert(held.end(), batch, batch + 3);
  // But not for good: it may be claimed by who was stopped. (By one who is for so long that it is left to him, only if the system
  // makes a long time of the naps: so there is always another.)
  ASSERT_EQ(claim::held, own->door.try_claim([] { return os::heavy_fence(); }));
  {
    const meanwhile another([] { own->turned_away_since.store(0, order::relaxed); });
    EXPECT_EQ(nullptr, h.allocate(size));
  }
  EXPECT_TRUE(own->door.end_claim());
  h.free_all(held);
}

TEST(limits, above_the_target_nothing_spare_is_kept_and_allocation_goes_on) {
  limited h(limited::with(0, 16 * MiB));
  h.heap.on_target([](std::size_t now) {
    limited& l = *limited::current;
    ++l.called;
    EXPECT_GT(now, 16 * MiB);
    l.free(l.allocate(100'000));
  });
  blocks held;
  EXPECT_TRUE(h.fill(held, 16 * KiB, 1024));
  EXPECT_EQ(1, h.called);
  blocks more;
  EXPECT_TRUE(h.fill(more, 16 * KiB, 1024));
  EXPECT_EQ(1, h.called);
  const std::size_t most = h.committed();
  EXPECT_GT(most, 32 * MiB);
  // In the frees themselves: nobody trims, and no decay step is due for a quarter of an hour.
  for (std::size_t i = 0; i != 512; ++i) h.free(more[i]);
  EXPECT_LE(h.committed(), most - 7 * MiB);
  EXPECT_LE(h.now().cached, MiB);
  void* const huge = h.allocate(40 * MiB);
  h.free(huge);
  EXPECT_LE(h.committed(), most - 7 * MiB);
  more.erase(more.begin(), more.begin() + 512);
  h.free_all(more);
  h.free_all(held);
  EXPECT_LE(h.committed(), 16 * MiB);
  EXPECT_TRUE(h.fill(held, 16 * KiB, 1024));
  EXPECT_EQ(2, h.called);
}

// Else the kernel would put together again what has just gone back, as far as it was part of a huge page.
TEST(limits, what_goes_back_at_once_stays_there_beside_what_is_in_use) {
  limited h(limited::with(0));
  blocks all;
  ASSERT_TRUE(h.fill(all, 250'000, 100));
  if (!os::asks_for_huge_pages(all.back())) GTEST_SKIP() << "no huge pages here";
  h.heap.set_target(MiB);
  void* const last = all.back();
  all.pop_back();
  EXPECT_TRUE(os::asks_for_huge_pages(last));
  h.free(last);
  EXPECT_FALSE(os::asks_for_huge_pages(last));
  h.free_all(all);
}

TEST(limits, crossing_the_target_empties_what_a_thread_that_has_gone_left) {
  limited h(limited::with(0, 12 * MiB));
  blocks theirs, ours;
  h.in_a_thread([&] { h.fill(theirs, size, 8000); });
  h.free_all(theirs);  // waits with the LAB of the thread that ended
  h.fill(ours, 16 * KiB, 512);
  EXPECT_LE(h.committed(), 12 * MiB);
}

TEST(limits, one_set_below_what_is_held_takes_what_is_spare) {
  limited h(limited::with(0));
  blocks held;
  h.fill(held, size, 20'000);
  h.free_all(held);
  EXPECT_GT(h.committed(), 10 * MiB);
  EXPECT_TRUE(h.heap.set_target(4 * MiB));
  EXPECT_LE(h.committed(), 4 * MiB);
  EXPECT_EQ(4 * MiB, h.now().target);
  EXPECT_TRUE(h.heap.set_target(0));
  EXPECT_EQ(0u, h.now().target);
  h.fill(held, size, 20'000);
  EXPECT_TRUE(h.heap.set_limit(4 * MiB));
  EXPECT_GT(h.committed(), 10 * MiB);  // what is in use stays
  EXPECT_EQ(nullptr, h.allocate(MiB));
  h.free_all(held);
  EXPECT_NE(nullptr, h.allocate(MiB));
  EXPECT_LE(h.committed(), 4 * MiB);
}

TEST(limits, threads_together_stay_below_the_cap_and_a_new_one_may_come_at_it) {
  constexpr std::size_t cap = 12 * MiB;
  limited h(limited::with(cap));
  std::atomic<std::size_t> most{0}, refused{0};
  std::vector<std::thread> crew;
  for (unsigned t = 0; t != 4; ++t)
    crew.push_back(h.thread([&, t] {
      std::minstd_rand random(t + 1);
      blocks held;
      for (int i = 0; i != 3000; ++i) {
        const std::size_t n = random() % 10 != 0 ? 100 + random() % 8000 : random() % 300'000;
        if (void* const p = h.allocate(n)) {
          std::memset(p, 1, n < 4096 ? n : 4096);
          held.push_back(p);
        } else {
          ++refused;
          h.free_all(held);
        }
        const std::size_t now = h.heap.read_statistics().committed;
        for (std::size_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
      }
      h.free_all(held);
    }));
  for (auto& t : crew) t.join();
  EXPECT_LE(most.load(), cap);
  EXPECT_GT(refused.load(), 0u);
  blocks held;
  EXPECT_FALSE(h.fill(held));
  h.in_a_thread([&] {
    h.free(h.allocate(size));  // whatever comes of it
    h.free_all(held);
    EXPECT_NE(nullptr, h.allocate(MiB));
  });
}

TEST(limits, modes_are_told) {
  served h;
  const modes m = h.heap.read_modes();
  EXPECT_EQ(page_of_tests(), m.page_size);
  EXPECT_EQ(0u, m.cgroup_limit);
  if (os::under_sanitizer() == nullptr) {  // where it has no thread
    EXPECT_EQ(0, m.background_error);
  }
  options o = served::usual;
  o.background = false;
  o.thp = thp_policy::off;
  served quiet(o);
  EXPECT_EQ(background_mode::off, quiet.heap.read_modes().background);
  EXPECT_EQ(huge_page_mode::off, quiet.heap.read_modes().huge_pages);
  o.thp = thp_policy::madvise;
  EXPECT_EQ(huge_page_mode::system, served(o).heap.read_modes().huge_pages);
  o.thp = thp_policy::on;
  const huge_page_mode on = served(o).heap.read_modes().huge_pages;
  EXPECT_TRUE(on == huge_page_mode::on || on == huge_page_mode::refused);
}

}  // namespace
}  // namespace polder::heap
