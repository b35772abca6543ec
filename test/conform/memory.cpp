// Memory comes back: to the system after a spike, to other threads, to successors of threads that ended. No standard asks
// for it; the bounds are generous, and each stands in its demand.
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "../probe/again.hpp"
#include "../threads/short_lives.hpp"
#include "probe.hpp"

namespace polder::conform {
namespace {

using threads_test::made, threads_test::start, threads_test::unmade;

constexpr long mib = 1024;  // in KiB
constexpr long spike = 200 * mib;

// 200 MiB in blocks of 1000 and of 20,000 bytes, all freed. One block in 1,000 stays, as in any program.
long after_a_spike() {
  static void* blocks[120'000];
  const long before = probe::resident_kib();
  long bytes = 0;
  std::size_t count = 0;
  for (; bytes < spike * 1024; count++) {
    const std::size_t n = count % 20 == 0 ? 20'000 : 1000;
    blocks[count] = std::malloc(n);
    probe::expect(blocks[count] != nullptr, "malloc(%zu) is NULL", n);
    std::memset(blocks[count], 1, n);
    bytes += long(n);
  }
  for (std::size_t i = 0; i < count; i++)
    if (i % 1000 != 0) std::free(probe::opaque(blocks[i]));
  return before;
}

void trimmed() {
  const long before = after_a_spike();
  ::malloc_trim(0);
  const long kept = probe::resident_kib() - before;
  note("%ld of 200 MiB stay", kept / mib);
  probe::expect(kept <= spike / 4, "%ld of 200 MiB stay resident after malloc_trim(0)", kept / mib);
}

// For 12 seconds, or until the memory is gone: `work`, then a hundredth of a second's sleep.
void give_back_while(void (*work)(), long before) {
  const double since = probe::now();
  long kept = 0;
  do {
    work();
    ::usleep(10'000);
    kept = probe::resident_kib() - before;
  } while (kept > spike / 4 && probe::now() < since + 12);
  note("%ld of 200 MiB stay after %.1f s", kept / mib, probe::now() - since);
  probe::expect(kept <= spike / 4, "%ld of 200 MiB stay resident after 12 s", kept / mib);
}

void little_work() {
  for (std::size_t n = 24; n < 3000; n *= 5) unmade(made(n, 1));
}
void ordinary_work() {
  static void* blocks[3000];
  probe::random r(1);
  for (auto& p : blocks) p = made(probe::any_size(r, 1000), 1);
  for (auto* p : blocks) unmade(p);
}
void idle() { give_back_while(little_work, after_a_spike()); }
void busy() { give_back_while(ordinary_work, after_a_spike()); }

void one_large_block() {
  const long before = probe::resident_kib();
  void* p = std::malloc(200 << 20);
  probe::expect(p != nullptr, "malloc of 200 MiB is NULL");
  std::memset(p, 1, 200 << 20);
  std::free(probe::opaque(p));
  give_back_while(little_work, before);
}

void short_lives(bool hand_over) {
  const long added = threads_test::grow_by_short_lives(hand_over, 5'000, 16 * mib).resident;
  note("the second 5,000 threads added %ld KiB", added);
  probe::expect(added <= 16 * mib, "each 5,000 threads added %ld MiB or more", added / mib);
}
void threads_that_keep_nothing() { short_lives(false); }
void threads_that_leave_blocks() { short_lives(true); }

// One allocates, another frees, for ever: 4 MiB at a time.
constexpr int under_way = 8000, rounds = 200;
void* passed[under_way];
pthread_barrier_t turn;
void* produce(void*) {
  probe::random r(4);
  for (int i = 0; i < rounds; i++) {
    for (auto& p : passed) p = made(probe::any_size(r, 4096), std::uint32_t(i));
    ::pthread_barrier_wait(&turn);
    ::pthread_barrier_wait(&turn);
  }
  return nullptr;
}
void producer_and_consumer() {
  ::pthread_barrier_init(&turn, nullptr, 2);
  const pthread_t producer = start(produce, nullptr);
  long early = 0, late = 0;
  for (int i = 0; i < rounds; i++) {
    ::pthread_barrier_wait(&turn);
    for (auto& p : passed) unmade(p);
    if (i == rounds / 4) early = probe::resident_kib();
    if (i == rounds - 1) late = probe::resident_kib();
    ::pthread_barrier_wait(&turn);
  }
  ::pthread_join(producer, nullptr);
  note("150 rounds added %ld KiB", late - early);
  probe::expect(late <= early + 16 * mib, "150 rounds of 4 MiB added %ld MiB", (late - early) / mib);
}

const demand probes[] = {
    {"spike-trim", "memory",
     "after 200 MiB in small blocks are freed, malloc_trim(0) leaves at most a quarter resident", "malloc_trim(3)",
     "nothing is freed", 60, trimmed},
    {"spike-work", "memory", "so do 12 seconds of ordinary work: 3,000 small blocks made and freed every 10 ms",
     "none", "nothing is freed", 60, busy},
    {"spike-idle", "memory", "so do 12 seconds of hardly any work: 3 small blocks every 10 ms", "none",
     "nothing is freed", 60, idle},
    {"large-block", "memory", "a freed block of 200 MiB leaves the resident set within 12 seconds", "none",
     "nothing is freed", 60, one_large_block},
    {"short-threads", "memory", "of 10,000 threads that free all, the second half adds at most 16 MiB", "none",
     "each thread keeps 64 KiB", 90, threads_that_keep_nothing},
    {"blocks-of-ended-threads", "memory", "so when half of their blocks are freed by others after they ended",
     "none", "each thread keeps 64 KiB", 90, threads_that_leave_blocks},
    {"producer-consumer", "memory",
     "one thread allocates, another frees, 4 MiB a round: 150 rounds add at most 16 MiB", "none",
     "frees by the main thread are lost", 60, producer_and_consumer},
};

}  // namespace

std::span<const demand> memory_probes() { return probes; }

}  // namespace polder::conform
