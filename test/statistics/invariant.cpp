// Requirement 19: allocated <= active <= resident <= mapped <= reserved in every reading, while four threads allocate small, large
// and huge blocks, free each other's, and trim; and `allocated` is exact: when all is freed and the threads have ended, it is what
// it was, wherever the blocks wait.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/the_heap.hpp"

using namespace polder;
using namespace polder::the_heap;

namespace {

constexpr unsigned threads = 4, places = 512;
std::atomic<void*> left_with[threads][places];  // blocks, for whoever comes by
std::atomic<unsigned> at_work{0};
long operations = 0;

std::size_t some_size(probe::random& r) {
  const auto kind = r.below(4000);
  if (kind == 0) return (std::size_t{33} << 20) + r.below(std::size_t{20} << 20);  // huge, hardly touched
  return kind < 3600 ? r.below(2'000) : kind < 3950 ? r.below(60'000) : r.below(3 << 20);
}

void* work(void* argument) {
  const auto seed = reinterpret_cast<std::uintptr_t>(argument);
  probe::random r{seed};
  for (long i = 0; i != operations; ++i) {
    const std::size_t n = some_size(r);
    auto* p = static_cast<char*>(probe::opaque(std::malloc(n)));
    probe::expect(p != nullptr, "req 19: no memory");
    if (n != 0) p[0] = p[n - 1] = 1;
    if (i % 16 == 0) p = static_cast<char*>(std::realloc(p, n / 2 + r.below(n + 100)));
    std::free(left_with[r.below(threads)][r.below(places)].exchange(p, std::memory_order_acq_rel));
    if (i % 4096 == 0) ::malloc_trim(0);
  }
  at_work.fetch_sub(1, std::memory_order_release);
  return nullptr;
}

// Their stacks and what the C library allocates with them are the same each time: it keeps both.
void start(pthread_t (&ids)[threads], std::uint64_t seed) {
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, 256 << 10);
  at_work = threads;
  for (unsigned i = 0; i != threads; ++i)
    probe::expect(::pthread_create(&ids[i], &small, work, reinterpret_cast<void*>(seed + i)) == 0,
                  "pthread_create");
  ::pthread_attr_destroy(&small);
}
void join(const pthread_t (&ids)[threads]) {
  for (const pthread_t id : ids) ::pthread_join(id, nullptr);
}

void free_all() {
  for (auto& of_one : left_with)
    for (auto& place : of_one) std::free(place.exchange(nullptr));
}

struct {
  long readings = 0;
  std::size_t most_allocated = 0, most_waiting = 0;
} seen;

void hold_the_invariant() {
  const polder_statistics s = statistics();
  ++seen.readings;
  const bool in_order =
      s.allocated <= s.active && s.active <= s.resident && s.resident <= s.mapped && s.mapped <= s.reserved;
  const bool adds_up = s.active + s.cached + s.metadata <= s.resident && s.waiting <= s.active - s.allocated &&
                       s.free_not_returned == s.cached + (s.active - s.allocated) && s.large <= s.active &&
                       s.resident <= s.peak;
  probe::expect(in_order && adds_up,
                "req 19: reading %ld: allocated %zu, active %zu, resident %zu, mapped %zu, reserved %zu; cached "
                "%zu, metadata "
                "%zu, waiting %zu, large %zu, free but not returned %zu, peak %zu",
                seen.readings, s.allocated, s.active, s.resident, s.mapped, s.reserved, s.cached, s.metadata,
                s.waiting, s.large, s.free_not_returned, s.peak);
  if (s.allocated > seen.most_allocated) seen.most_allocated = s.allocated;
  if (s.waiting > seen.most_waiting) seen.most_waiting = s.waiting;
}

}  // namespace

int main() {
  ::alarm(110);
  constexpr std::uint64_t seed = 19;
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  pthread_t ids[threads];
  for (operations = 1; operations <= 200'001; operations += 200'000) {
    const std::size_t before = statistics().allocated;
    start(ids, seed);
    do {
      hold_the_invariant();
      const int format = int(seen.readings % 3);
      probe::expect(write_statistics(nowhere, format) == 0, "req 19: statistics cannot be written");
      const timespec a_while{0, 5'000'000};
      ::nanosleep(&a_while, nullptr);
    } while (at_work.load(std::memory_order_acquire) != 0);
    join(ids);
    free_all();
    hold_the_invariant();
    const polder_statistics after = statistics();
    if (operations == 1) continue;  // the C library has kept its share
    probe::say(
        "seed %llu: %ld readings, %zu MiB allocated at most, %zu KiB on their way at most, %zu KiB at the end",
        static_cast<unsigned long long>(seed), seen.readings, mib(seen.most_allocated), seen.most_waiting >> 10,
        after.waiting >> 10);
    probe::expect(after.allocated == before,
                  "req 19: %zu bytes are told as allocated when all is freed, %zu were before", after.allocated,
                  before);
    probe::expect(after.remote_frees > 10'000, "req 19: %llu blocks were freed by another thread",
                  static_cast<unsigned long long>(after.remote_frees));
    probe::expect(seen.readings >= 20 && seen.most_waiting != 0, "req 19: too little was looked at");
  }
  return 0;
}
