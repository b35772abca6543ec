// What interrupts a thread inside the heap: signals and fork.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/ended_thread_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/thread_name.hpp>

namespace polder::heap {
namespace {

served* interrupted = nullptr;
volatile int handled = 0, in_vain = 0;

// As much of malloc as a handler may do: every kind of block, freed at once.
void handler_that_allocates(int) {
  const int kept = errno;
  for (const std::size_t n : {std::size_t{24}, std::size_t{5000}, 100 * KiB}) {
    auto* const p = static_cast<unsigned char*>(interrupted->allocate(n));
    if (p == nullptr) {
      in_vain = in_vain + 1;
      continue;
    }
    p[0] = p[n - 1] = 0xee;
    interrupted->free(p);
  }
  handled = handled + 1;
  errno = kept;
}

TEST(signal_handler, inside_malloc_borrows_a_lab) {
  served h;
  interrupted = &h;
  handled = 0;
  in_vain = 0;
  struct sigaction action = {}, before;
  action.sa_handler = handler_that_allocates;
  ASSERT_EQ(0, ::sigaction(SIGALRM, &action, &before));
  const itimerval often{{0, 200}, {0, 200}}, never{};
  ASSERT_EQ(0, ::setitimer(ITIMER_REAL, &often, nullptr));
  std::minstd_rand random(1);
  std::vector<std::pair<unsigned char*, std::size_t>> held;
  bool whole = true;
  for (int i = 0; i < 2'000'000 && (handled < 500 || i < 50'000); ++i) {
    if (held.size() < 100 || (held.size() < 3'000 && random() % 2 == 0)) {
      const std::size_t n = 1 + random() % (i % 100 == 0 ? 60'000 : 500);
      auto* const p = static_cast<unsigned char*>(h.allocate(n));
      p[0] = p[n - 1] = (unsigned char)(n);
      held.push_back({p, n});
    } else {
      std::swap(held[random() % held.size()], held.back());
      whole = whole && held.back().first[0] == (unsigned char)(held.back().second) &&
              held.back().first[held.back().second - 1] == (unsigned char)(held.back().second);
      h.free(held.back().first);
      held.pop_back();
    }
  }
  ASSERT_EQ(0, ::setitimer(ITIMER_REAL, &never, nullptr));
  ASSERT_EQ(0, ::sigaction(SIGALRM, &before, nullptr));
  EXPECT_TRUE(whole);
  EXPECT_GT(handled, 0);
  EXPECT_EQ(0, in_vain);
  for (const auto& [p, n] : held) h.free(p);
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_LE(h.now().labs, 3u);
}

// The handler runs in the middle of an operation, wherever it looks for its LAB: the first, the second … time.
TEST(signal_handler, at_every_step_of_a_threads_first_operation) {
  for (int step = 1; step != 12; ++step)
    for (const bool first_is_free : {false, true}) {
      served h;
      void* const mine = h.allocate(100);
      static int steps_left;
      static served* heap;
      heap = &h;
      h.in_a_thread([&] {
        steps_left = step;
        struct handler {
          static void run() {
            if (--steps_left > 0) {
              test_host::interruption = run;
              return;
            }
            heap->free(heap->allocate(40));
          }
        };
        test_host::interruption = handler::run;
        void* const p = first_is_free ? (h.free(mine), nullptr) : h.allocate(100);
        test_host::interruption = nullptr;
        EXPECT_FALSE(test_host::nobody<lab>.door.active()) << "left announced at nobody's door, step " << step;
        EXPECT_FALSE(h.own().door.active());
        h.free(p);
        h.free(h.allocate(100));
      });
      if (!first_is_free) h.free(mine);
      h.heap.trim(0);
      EXPECT_EQ(0u, h.now().allocated) << "step " << step;
    }
}

// Cancelled in the midst of an operation, which is never finished; then its destructors run.
TEST(a_thread, that_ends_inside_leaves_its_lab_to_nobody) {
  served h;
  h.allocate(16);
  lab* torn = nullptr;
  h.in_a_thread([&] {
    h.allocate(100);
    torn = &h.own();
    ASSERT_TRUE(torn->door.announce());
  });
  EXPECT_EQ(lab_state::running, torn->door.state());
  EXPECT_TRUE(torn->door.active());
  h.in_a_thread([&] {
    h.free(h.allocate(100));
    EXPECT_NE(torn, &h.own());
  });
  h.heap.trim(0);
  EXPECT_EQ(1u, torn->owned_count);
}

TEST(fork, the_child_goes_on_with_the_blocks_of_all_threads) {
  served h;
  std::vector<void*> theirs(1'000);
  h.in_a_thread([&] {
    for (void*& p : theirs) p = std::memset(h.allocate(100), 7, 100);
  });
  void* const mine = std::memset(h.allocate(100), 9, 100);
  for (int generation = 0; generation != 3; ++generation)
    ASSERT_EQ(os::fine, os::forked([&] {
                h.heap.after_fork_child();
                if (*static_cast<char*>(mine) != 9) return 1;
                h.free(mine);
                for (void* p : theirs) {
                  if (*static_cast<char*>(p) != 7) return 2;
                  h.free(p);
                }
                for (int i = 0; i != 10'000; ++i) h.free(h.allocate(std::size_t(i)));
                h.heap.trim(0);
                if (h.now().allocated != 0) return 3;
                // And a grandchild.
                return os::forked([&] {
                         h.heap.after_fork_child();
                         h.free(h.allocate(100));
                         return h.now().allocated == 0 ? 0 : 4;
                       }) == os::fine
                           ? 0
                           : 5;
              }));
  EXPECT_EQ(9, *static_cast<char*>(mine));
  h.free(mine);
  for (void* p : theirs) h.free(p);
}

// The other threads are caught wherever they are: their LABs may be torn, and are left alone.
TEST(fork, while_others_are_inside) {
  served h;
  atomic<bool> enough{false};
  std::vector<std::thread> crew;
  for (int k = 0; k != 2; ++k)
    crew.push_back(h.thread([&, k] {
      std::minstd_rand random(k + 1);
      void* held[100] = {};
      while (!enough.load(order::relaxed)) {
        void*& p = held[random() % 100];
        h.free(p);
        p = h.allocate(random() % 3'000);
      }
      for (void* p : held) h.free(p);
    }));
  h.free(h.allocate(1));
  for (int i = 0; i != 50; ++i)
    ASSERT_EQ(os::fine, os::forked([&] {
                h.heap.after_fork_child();
                void* held[100] = {};
                for (int n = 0; n != 2'000; ++n) {
                  void*& p = held[n % 100];
                  h.free(p);
                  p = h.allocate(std::size_t(n));
                  if (p == nullptr) return 1;
                  std::memset(p, n, std::size_t(n));
                }
                for (void* p : held) h.free(p);
                h.heap.trim(0);
                return 0;
              }));
  enough.store(true, order::relaxed);
  for (auto& t : crew) t.join();
  EXPECT_EQ(0u, h.now().allocated);
}

// ---- fork, while somebody holds a LAB that is not its own ---------------------------------------------------------------

// Four threads, each with 20 spans of its own, that sleep outside the heap; then `during` forks.
constexpr std::size_t sleepers = 4, spans_each = 20, block = 1'000,
                      per_sleeper = spans_each * (mem::grain_size / block);

class fork_among_sleepers : public testing::Test {
 protected:
  void run(auto during) {
    h.allocate(16);
    std::vector<std::thread> crew;
    for (std::size_t k = 0; k != sleepers; ++k)
      crew.push_back(h.thread([&, k] {
        for (void*& p : theirs[k]) p = std::memset(h.allocate(block), 7, block);
        lab_of[k] = &h.own();
        ready.fetch_add(1, order::release);
        while (!enough.load(order::acquire)) std::this_thread::yield();
        for (void* p : theirs[k]) h.free(p);
      }));
    while (ready.load(order::acquire) != sleepers) std::this_thread::yield();
    during();
    enough.store(true, order::release);
    for (auto& t : crew) t.join();
    h.heap.trim(0);
    EXPECT_EQ(16u, h.now().allocated) << "in the parent";
  }

  // In the child: frees all, trims, and works on. 0: all memory came back but for that of `lost` sleepers.
  int recover(std::size_t lost) {
    h.heap.after_fork_child();
    for (auto& blocks : theirs)
      for (void* p : blocks) {
        if (*static_cast<char*>(p) != 7) return 1;
        h.free(p);
      }
    h.heap.trim(0);
    h.heap.trim(0);  // what came home in the first
    const std::uint64_t left = h.now().spans;
    if (left < lost * spans_each || left > lost * (spans_each + 1) + 1) return 2;
    for (int i = 0; i != 10'000; ++i) h.free(h.allocate(std::size_t(i)));
    return 0;
  }

  served h;
  void* theirs[sleepers][per_sleeper];
  lab* lab_of[sleepers] = {};
  atomic<std::size_t> ready{0};
  atomic<bool> enough{false};
};

TEST_F(fork_among_sleepers, the_child_has_the_memory_of_threads_that_are_no_more) {
  run([&] { EXPECT_EQ(os::fine, os::forked([&] { return recover(0); })); });
}

// One thread is between try_claim and end_claim when another forks, or itself: its LAB may be torn, and no other.
TEST_F(fork_among_sleepers, in_the_middle_of_a_claim_loses_the_lab_that_is_claimed) {
  run([&] {
    ASSERT_EQ(claim::held, lab_of[1]->door.try_claim([] { return true; }));
    EXPECT_EQ(os::fine, os::forked([&] { return recover(1); }));
    EXPECT_TRUE(lab_of[1]->door.end_claim());
    EXPECT_EQ(os::fine, os::forked([&] { return recover(0); }));
  });
}

TEST_F(fork_among_sleepers, in_the_middle_of_a_drain_loses_the_lab_that_is_drained) {
  h.allocate(16);
  lab* left = nullptr;
  std::vector<void*> old(per_sleeper);
  h.in_a_thread([&] {
    for (void*& p : old) p = h.allocate(block);
    left = &h.own();
  });
  ASSERT_TRUE(left->door.try_drain());
  EXPECT_EQ(os::fine, os::forked([&] {
              h.heap.after_fork_child();
              for (void* p : old) h.free(p);
              h.heap.trim(0);
              const std::uint64_t lost = h.now().spans;
              for (int i = 0; i != 1'000; ++i) h.free(h.allocate(block));
              return lost >= spans_each && lost <= spans_each + 2 && left->door.state() == lab_state::draining ? 0
                                                                                                               : 1;
            }));
  left->door.settle([] { return false; }, [] {});
  for (void* p : old) h.free(p);
  h.heap.trim(0);
  EXPECT_EQ(16u, h.now().allocated);
}

// The LAB that is claimed is that of the thread that forks: it gives way, and has another.
TEST_F(fork_among_sleepers, in_the_middle_of_a_claim_of_its_own_lab_loses_that) {
  run([&] {
    std::vector<void*> mine(per_sleeper);
    for (void*& p : mine) p = h.allocate(block);
    lab& own = h.own();
    ASSERT_EQ(claim::held, own.door.try_claim([] { return true; }));
    EXPECT_EQ(os::fine, os::forked([&] {
                for (void* p : mine) h.free(p);  // into the inbox of a LAB that nobody ever empties
                const int verdict = recover(1);
                return &h.own() != &own && own.door.state() == lab_state::abandoned ? verdict : 4;
              }));
    EXPECT_TRUE(own.door.end_claim());
    for (void* p : mine) h.free(p);
    EXPECT_EQ(&own, &h.own());
  });
}

// ---- who has ended, and who only seems to ---------------------------------------------------------------------------------

// Trims in another thread, which finds this one outside.
void have_it_trimmed(served& h) {
  h.in_a_thread([&] {
    h.free(h.allocate(1));
    h.heap.trim(0);
  });
}

// In a child the thread that forked has another number, and by its old one it has ended.
TEST(fork, a_child_keeps_the_lab_of_its_thread) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;  // which has no threads in a child
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  served h;
  h.allocate(100);
  h.in_a_thread([&] {  // whose number is not its process's
    void* const mine = h.allocate(100);
    lab& own = h.own();
    EXPECT_EQ(os::fine, os::forked([&] {
                h.heap.after_fork_child();
                have_it_trimmed(h);
                if (!own.door.is_unclaimed()) return 1;
                if (own.door.owner() != os::own_thread_number()) return 2;
                h.free(mine);
                h.free(h.allocate(100));
                return &h.own() == &own ? 0 : 3;
              }));
    h.free(mine);
  });
}

// Nor does it lose it where nobody told the heap of the fork, not even when the parent is no more.
TEST(fork, a_child_nobody_told_of_keeps_the_lab_of_its_thread) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  served h;
  h.allocate(100);
  int ends[2];
  ASSERT_EQ(0, ::pipe(ends));
  EXPECT_EQ(os::fine, os::forked([&] {
              h.heap.after_fork_child();  // this one knows what it is; its own child does not
              h.free(h.allocate(100));
              lab& own = h.own();
              const std::uint32_t parent = os::own_process_number();
              if (::fork() != 0) return 0;
              ::alarm(60);
              static_cast<void>(os::register_heavy_fence());
              while (::kill(pid_t(parent), 0) == 0) ::usleep(1'000);
              have_it_trimmed(h);
              const char verdict = own.door.is_unclaimed() ? 'k' : 'l';
              return ::write(ends[1], &verdict, 1) == 1 ? 0 : 1;
            }));
  ::close(ends[1]);
  char verdict = 0;
  EXPECT_EQ(1, ::read(ends[0], &verdict, 1));
  EXPECT_EQ('k', verdict);
  ::close(ends[0]);
}

// POSIX forbids the child of vfork to allocate. If it does all the same, and is the first of its thread to: the LAB is the
// parent's when the child has ended.
TEST(vfork, a_lab_that_the_child_took_stays_the_threads) {
  if (const char* why = os::under_sanitizer()) GTEST_SKIP() << why;  // which has it fork
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  served h;
  h.allocate(100);
  h.in_a_thread([&] {
    int status = 0;
    const pid_t child = ::vfork();
    if (child == 0) {
      h.free(h.allocate(100));
      ::_exit(0);
    }
    ASSERT_EQ(child, ::waitpid(child, &status, 0));
    lab& own = h.own();
    if (&own == &test_host::nobody<lab>) GTEST_SKIP() << "vfork is a fork here";
    ASSERT_EQ(gate::unnumbered, own.door.owner());
    have_it_trimmed(h);
    EXPECT_TRUE(own.door.is_unclaimed());
    h.free(h.allocate(100));
    EXPECT_EQ(&own, &h.own());
  });
}

}  // namespace
}  // namespace polder::heap
