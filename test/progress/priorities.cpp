// Threads that the scheduler always prefers (SCHED_FIFO) beside ordinary ones, all on one processor. Whoever is preferred and
// waits in a loop for an ordinary thread has the processor until the kernel takes it away from all like it: what an ordinary
// thread was interrupted at is finished by nobody. So the preferred threads wake at random moments, in whatever the ordinary
// ones are at, do some operations of every kind, and sleep; and none of them may use the processor for longer than any of its
// operations could take. Who waits asleep uses none: so they are also asked how often they gave it up inside an operation. The
// kernel has locks of its own, over the address space; the C library's malloc, which has its own, waits in one wake of seventeen.
//   priorities [WAKES] [SEED]
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "crew.hpp"

using namespace polder;
using namespace polder::progress;

namespace {

constexpr int ordinary = 4, preferred = 2;
// On the processor, for some twenty operations; the kernel stops preferred threads that use 950 ms of a second.
constexpr std::int64_t patience_ns = 900'000'000;
constexpr long wakes_a_wait = 50;  // at least

market blocks;
durations took;
longest turn;
tally tallies[ordinary + preferred];
std::atomic<bool> enough{false};
std::atomic<long> waits{0};
std::uint64_t seed;
long wakes;

void* work(void* number) {
  const auto n = std::size_t(reinterpret_cast<std::uintptr_t>(number));
  worker w(blocks, tallies[n], seed + n, took, {});
  while (!enough.load(std::memory_order_relaxed)) w.step();
  w.free_all();
  return nullptr;
}

long times_asleep() {
  rusage u{};
  ::getrusage(RUSAGE_THREAD, &u);
  return u.ru_nvcsw;
}

void* wake_and_work(void* number) {
  const auto n = std::size_t(reinterpret_cast<std::uintptr_t>(number));
  const sched_param first{.sched_priority = 10};
  probe::expect(::sched_setscheduler(0, SCHED_FIFO, &first) == 0, "sched_setscheduler: %s", std::strerror(errno));
  worker w(blocks, tallies[n], seed + n, took, {});
  probe::random random(seed * 31 + n);
  for (long i = 0; i != wakes; ++i) {
    ::usleep(unsigned(50 + random.below(500)));
    const long asleep = times_asleep();
    const std::int64_t before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    w.each_kind_once();
    const std::int64_t on_it = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before;
    waits.fetch_add(times_asleep() - asleep);
    turn.see(on_it);
    probe::expect(on_it < patience_ns, "a preferred thread was %.0f ms at it: it waits for an ordinary one",
                  double(on_it) * 1e-6);
  }
  w.free_all();
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  wakes = argc > 1 ? std::atol(argv[1]) : 20'000;
  seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : std::uint64_t(::time(nullptr));
  probe::say("%ld wakes, seed %lu", wakes, (unsigned long)seed);
  const sched_param first{.sched_priority = 10}, none{};
  if (::sched_setscheduler(0, SCHED_FIFO, &first) != 0) probe::skip("sched_setscheduler is refused here");
  probe::expect(::sched_setscheduler(0, SCHED_OTHER, &none) == 0, "sched_setscheduler: %s", std::strerror(errno));
  cpu_set_t may, one;
  ::sched_getaffinity(0, sizeof may, &may);
  CPU_ZERO(&one);
  for (int i = 0; i != CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &may)) {
      CPU_SET(i, &one);
      break;
    }
  probe::expect(::sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity: %s", std::strerror(errno));
  pthread_t crew[ordinary + preferred];
  for (std::uintptr_t i = 0; i != ordinary + preferred; ++i)
    probe::expect(
        ::pthread_create(&crew[i], nullptr, i < ordinary ? work : wake_and_work, reinterpret_cast<void*>(i)) == 0,
        "pthread_create");
  for (int i = ordinary; i != ordinary + preferred; ++i) ::pthread_join(crew[i], nullptr);
  enough.store(true);
  for (int i = 0; i != ordinary; ++i) ::pthread_join(crew[i], nullptr);
  blocks.clear();
  std::uint64_t done = 0;
  for (int i = 0; i != ordinary; ++i) done += tallies[i].of_all();
  tell(
      R"("test": "priorities", "preferred": %d, "wakes": %ld, "waits": %ld, "operations": %lu, "processor_ms": %.2f)",
      preferred, wakes, waits.load(), (unsigned long)done, turn.milliseconds());
  probe::expect(waits * wakes_a_wait <= preferred * wakes,
                "req 13: preferred threads waited %ld times in %ld wakes", waits.load(), preferred * wakes);
  return 0;
}
