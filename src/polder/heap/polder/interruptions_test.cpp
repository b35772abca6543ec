// What interrupts a thread inside the heap: signals and fork.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/forked_test.hpp>

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
      if (test_host::nobody<lab>.door.active()) test_host::nobody<lab>.door.exit();
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
    ASSERT_TRUE(torn->door.enter(0));
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

}  // namespace
}  // namespace polder::heap
