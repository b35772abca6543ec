// Requirement 11: what is freed by a thread that never allocates is bounded, and comes back. Sixteen producers hold blocks and
// replace them at random; the old ones go through short queues to one consumer, which only frees.
//   remote_frees steady SIZE   at no time is more resident than twice what lives, and 64 KiB a thread
//   remote_frees asleep SIZE   then the producers fall asleep, the consumer frees all that they held and falls asleep too:
//                              what lives is nothing now, and what is resident comes under the same bound
//   remote_frees exited SIZE   the same, but the producers end before that
// The program itself, with its threads and before they allocate, is what is resident at the start. How long it takes to come
// back is only told; the time limit is for what never does.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "../probe/again.hpp"
#include "crew.hpp"

using namespace polder;
using namespace polder::threads_test;

namespace {

constexpr std::size_t producers = 16, most_held = 4096, longest_queue = 256;
constexpr long of_a_thread_kib = 64;
constexpr double patience = 60;  // seconds

std::size_t size, held, queue_length, replacements;  // of each producer
bool exit_early;
pthread_barrier_t begun, go, all_freed;

// One producer's: the blocks it holds, and those on their way to the consumer.
struct alignas(128) producer {
  void* blocks[most_held];
  std::atomic<void*> queue[longest_queue];
};
producer crew[producers];
std::atomic<std::size_t> at_rest;       // producers that will not allocate again
std::atomic<long> living, most_living;  // blocks, those under way too

void* another(std::uintptr_t n) {
  const long now = living.fetch_add(1) + 1;
  for (long most = most_living.load(); most < now && !most_living.compare_exchange_weak(most, now);) {
  }
  return made(size, std::uint32_t(n));
}
void free_one(void* p) {
  living.fetch_sub(1);
  unmade(p);
}

void* produce(void* number) {
  const auto n = reinterpret_cast<std::uintptr_t>(number);
  producer& me = crew[n];
  probe::random r(n);
  ::pthread_barrier_wait(&begun);
  ::pthread_barrier_wait(&go);
  for (std::size_t i = 0; i != held; ++i) me.blocks[i] = another(n);
  for (std::size_t i = 0; i != replacements; ++i) {
    std::atomic<void*>& place = me.queue[i % queue_length];
    while (place.load() != nullptr) ::usleep(50);
    void*& block = me.blocks[r.below(held)];
    place.store(block);
    block = another(n);
  }
  at_rest.fetch_add(1);
  if (!exit_early) ::pthread_barrier_wait(&all_freed);
  return nullptr;
}

// Whether there was anything in the queue.
bool empty_queue(producer& of) {
  bool any = false;
  for (std::size_t i = 0; i != queue_length; ++i)
    if (void* const p = of.queue[i].exchange(nullptr)) free_one(p), any = true;
  return any;
}

std::atomic<bool> free_the_rest{false}, rest_freed{false};

void* consume(void*) {
  ::pthread_barrier_wait(&begun);
  ::pthread_barrier_wait(&go);
  for (bool last = false; !last;) {
    last = at_rest.load() == producers;
    bool any = false;
    for (producer& p : crew) any |= empty_queue(p);
    if (!any && !last) ::usleep(50);
  }
  while (!free_the_rest.load()) ::usleep(1000);
  for (producer& p : crew)
    for (std::size_t i = 0; i != held; ++i) free_one(p.blocks[i]);
  rest_freed.store(true);
  ::pthread_barrier_wait(&all_freed);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const way = argc == 3 ? argv[1] : "";
  const bool steady = std::strcmp(way, "steady") == 0, asleep = std::strcmp(way, "asleep") == 0;
  exit_early = std::strcmp(way, "exited") == 0;
  probe::expect(steady || asleep || exit_early, "usage: remote_frees steady|asleep|exited SIZE");
  size = std::strtoul(argv[2], nullptr, 10);
  held = std::clamp(std::size_t{2'400'000} / size, std::size_t{2}, most_held);
  queue_length = std::clamp(held / 16, std::size_t{1}, longest_queue);
  replacements = std::max((steady ? 20 : 4) * held, std::size_t{100});
  const long threads = long(producers) + 1;
  ::alarm(110);
  ::pthread_barrier_init(&begun, nullptr, unsigned(threads) + 1);
  ::pthread_barrier_init(&go, nullptr, unsigned(threads) + 1);
  ::pthread_barrier_init(&all_freed, nullptr, unsigned(exit_early ? 0 : producers) + 2);
  pthread_t them[producers];
  for (std::uintptr_t i = 0; i != producers; ++i) them[i] = start(produce, reinterpret_cast<void*>(i));
  const pthread_t consumer = start(consume, nullptr);
  ::pthread_barrier_wait(&begun);
  const long before = probe::resident_kib();
  ::pthread_barrier_wait(&go);

  long most = 0;
  for (bool last = false; !last; ::usleep(2000)) {
    last = at_rest.load() == producers;
    most = std::max(most, probe::resident_kib() - before);
  }
  const long live = most_living.load() * long(size) / 1024;
  probe::say("at most %ld KiB live; resident at most %ld KiB, beside %ld at the start", live, most, before);
  probe::expect(most <= 2 * live + threads * of_a_thread_kib, "req 11: %ld KiB resident, of %ld live", most, live);
  if (steady) return 0;

  if (exit_early)
    for (const pthread_t t : them) ::pthread_join(t, nullptr);
  free_the_rest.store(true);
  while (!rest_freed.load()) ::usleep(1000);
  const double begun_to_wait = probe::now();
  long left = probe::resident_kib() - before;
  while (left > threads * of_a_thread_kib && probe::now() - begun_to_wait < patience) {
    ::usleep(20'000);
    left = probe::resident_kib() - before;
  }
  probe::say("%.2f s after the last free %ld KiB", probe::now() - begun_to_wait, left);
  probe::expect(left <= threads * of_a_thread_kib, "req 11: %ld KiB stay where all is freed", left);
  ::pthread_barrier_wait(&all_freed);
  if (!exit_early)
    for (const pthread_t t : them) ::pthread_join(t, nullptr);
  ::pthread_join(consumer, nullptr);
}
