// Threads: many at once, many in turn, their ends, their cancellation.
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "../fork/child_work.hpp"
#include "../preload/stages.hpp"
#include "../threads/late_destructors.hpp"
#include "probe.hpp"

namespace polder::conform {
namespace {

using threads_test::made, threads_test::start, threads_test::unmade;

fork_test::exchange shared;

void hand_to_others() {
  fork_test::churners<4> churning(shared);
  ::usleep(1'500'000);
}

constexpr int live_threads = 1000, blocks_of_each = 40;
void* blocks_of[live_threads][blocks_of_each];
pthread_barrier_t all_there;
void* live_with_others(void* number) {
  const auto mine = reinterpret_cast<std::uintptr_t>(number);
  for (std::size_t i = 0; i < blocks_of_each; i++)
    blocks_of[mine][i] = made(probe::small_sizes[i], std::uint32_t(mine));
  ::pthread_barrier_wait(&all_there);
  for (void* p : blocks_of[(mine + 1) % live_threads]) unmade(p);
  return nullptr;
}
void a_thousand() {
  static pthread_t crew[live_threads];
  ::pthread_barrier_init(&all_there, nullptr, live_threads);
  for (std::uintptr_t i = 0; i < live_threads; i++) crew[i] = start(live_with_others, reinterpret_cast<void*>(i));
  for (auto thread : crew) ::pthread_join(thread, nullptr);
}

void late_destructors() {
  ::pthread_key_create(&threads_test::key, threads_test::again);
  threads_test::end_threads_late(400);
}

void thread_locals() {
  for (int i = 0; i < 50; i++)
    std::thread([] {
      preload::link_of_chain<1>().touch();
      preload::use_heap("a thread");
    }).join();
  probe::expect(preload::deepest == 5, "the destructors went %d deep, not 5", preload::deepest.load());
}

// malloc is no cancellation point: a cancellation that is pending must wait for one.
std::atomic<bool> pending, survived;
void* work_while_cancelled(void*) {
  while (!pending.load()) ::sched_yield();
  probe::random r(8);
  void* own[64] = {};
  for (int i = 0; i < 30'000; i++) {
    void*& p = own[r.below(64)];
    if (p) unmade(p);
    p = made(probe::any_size(r, 4 << 20), 1);
    if (i % 16 == 0) p = std::realloc(p, 100'000), probe::stamp(p, 100'000, 1);
  }
  for (void* p : own)
    if (p) unmade(p);
  survived = true;
  for (;;) ::pthread_testcancel();
}
void deferred_cancellation() {
  fork_test::churners<3> churning(shared);
  for (int i = 0; i < 5; i++) {
    pending = survived = false;
    const pthread_t thread = start(work_while_cancelled, nullptr);
    ::pthread_cancel(thread);
    pending = true;
    ::pthread_join(thread, nullptr);
    probe::expect(survived, "the thread was cancelled inside malloc, free or realloc");
  }
}

// Not async-cancel-safe, says POSIX; the question is what becomes of the other threads.
std::atomic<long> allocated;
void* work_till_cancelled(void*) {
  int before;
  ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  for (;;) {
    std::free(probe::opaque(std::malloc(100)));
    std::free(probe::opaque(std::malloc(5000)));
    std::free(probe::opaque(std::malloc(200'000)));
    allocated.fetch_add(1, std::memory_order_relaxed);
  }
}
void asynchronous_cancellation() {
  probe::random r(2);
  for (int i = 0; i < 60; i++) {
    const long before = allocated;
    const pthread_t thread = start(work_till_cancelled, nullptr);
    while (allocated < before + 1 + long(r.below(100))) ::sched_yield();
    ::pthread_cancel(thread);
    ::pthread_join(thread, nullptr);
    for (std::size_t n = 24; n < 1 << 20; n *= 4) unmade(made(n, 1));
  }
}

const demand probes[] = {
    {"threads", "threads", "four threads free each other's blocks; every block keeps what was written to it",
     "C17 7.22.3: no data races", "blocks are 16 bytes short", 60, hand_to_others},
    {"a-thousand-threads", "threads", "1,000 live threads each have blocks, and free their neighbour's",
     "C17 7.22.3", "500 threads are enough", 60, a_thousand},
    {"late-destructors", "threads", "destructors of thread-specific data use the heap, in all 4 rounds",
     "POSIX.1-2017 pthread_key_create", "a thread's heap ends with its key", 60, late_destructors},
    {"thread-locals", "threads", "destructors of thread_local objects use it, each making the next, five deep",
     "C++20 [basic.start.term]", "a thread's heap ends with its thread_locals", 60, thread_locals},
    {"deferred-cancel", "threads", "malloc, free and realloc are no cancellation points", "POSIX.1-2017 2.9.5.2",
     "malloc is a cancellation point", 60, deferred_cancellation},
    {"asynchronous-cancel", "beyond", "threads that are cancelled inside malloc leave the heap usable",
     "none; POSIX forbids the program to", "one lock, forgotten at fork", 30, asynchronous_cancellation},
};

}  // namespace

std::span<const demand> thread_probes() { return probes; }

}  // namespace polder::conform
