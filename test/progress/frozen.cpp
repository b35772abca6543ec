// A thread that stops, at whatever instruction, keeps nobody waiting. Of 32 threads one after the other is stopped by a signal
// whose handler parks it, and goes on only when each of the others has done one more operation of every kind: malloc,
// free, free of another's block, realloc, a large block, malloc_trim. Who waited for a thread that is stopped would wait for
// ever, and the time limit says who it is. How long an operation took by the clock is told, and held against nothing, for 32 threads
// have two processors, in turns; on the processor none takes 100 ms, as one would that waited by turning round and round.
//   frozen [FREEZES] [SEED]   300; 10,000 in the full form
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "../full_form.hpp"
#include "crew.hpp"

using namespace polder;
using namespace polder::progress;

namespace {

constexpr int threads = 32;
constexpr unsigned patience = 60;  // seconds for what takes a hundredth of one

void wait_while(std::atomic<std::uint32_t>& word, std::uint32_t value, const timespec* limit = nullptr) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, limit, nullptr, 0);
}
void wake_all(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1 << 30, nullptr, nullptr, 0);
}

market blocks;
durations took;
tally tallies[threads];
std::atomic<bool> enough{false};
std::atomic<std::uint32_t> round_of[threads];  // the last round in which the thread has done its part
std::atomic<std::uint32_t> round{0}, finished{0};
std::atomic<std::uint32_t> bells[threads];
std::atomic<std::uint32_t> running{0};  // a bit a thread
std::atomic<std::uint32_t> parked{0}, thawed{0};
std::atomic<int> wanted{-1};           // the thread that is to stop
std::atomic<bool> only_inside{false};  // only in the middle of an operation, three times of four
std::atomic<std::uint64_t> inside{0};
pid_t ids[threads];
std::atomic<std::uint32_t> begun{0};

thread_local worker* me;
thread_local int my_number;
thread_local volatile bool working = false;
thread_local tally* my_tally;

void park(int) {
  int number = my_number;
  if (!working || (only_inside.load() && !me->inside()) || !wanted.compare_exchange_strong(number, -1))
    return;  // it is asked again, or was asked twice
  const int kept = errno;
  const std::uint32_t now = thawed.load();
  inside.fetch_add(me->inside());
  my_tally->interruptions.fetch_add(1, std::memory_order_relaxed);
  parked.fetch_add(1);
  wake_all(parked);
  while (thawed.load() == now) wait_while(thawed, now);
  errno = kept;
}

std::uint64_t seed;

// Those that are free to run do; the others sleep until there is a round in which they have no part yet.
void* work(void* number) {
  const auto n = std::size_t(reinterpret_cast<std::uintptr_t>(number));
  take_short_turns();
  worker w(blocks, tallies[n], seed + n, took, {});
  me = &w;
  my_number = int(n);
  my_tally = &tallies[n];
  w.each_kind_once();
  ids[n] = pid_t(::syscall(SYS_gettid));
  begun.fetch_add(1);
  while (!enough.load()) {
    const std::uint32_t rung = bells[n].load();
    if (const std::uint32_t now = round.load(); round_of[n].load(std::memory_order_relaxed) != now) {
      w.each_kind_once();
      round_of[n].store(now);
      finished.fetch_add(1);
      wake_all(finished);
    } else if ((running.load() >> n & 1) != 0) {
      working = true;
      w.step();
      working = false;
    } else {
      wait_while(bells[n], rung);
    }
  }
  w.free_all();
  return nullptr;
}

void ring(std::uint32_t whom) {
  for (int i = 0; i != threads; ++i)
    if ((whom >> i & 1) != 0) bells[i].fetch_add(1), wake_all(bells[i]);
}

// Until all but `victim` have done their part of this round.
void await_the_others(int victim, std::uint32_t now) {
  const std::int64_t until = nanoseconds(CLOCK_MONOTONIC) + std::int64_t{patience} * 1'000'000'000;
  for (;;) {
    const std::uint32_t seen = finished.load();
    int late = -1;
    for (int i = 0; i != threads; ++i)
      if (i != victim && round_of[i].load(std::memory_order_acquire) != now) late = i;
    if (late < 0) return;
    if (nanoseconds(CLOCK_MONOTONIC) > until) {
      for (unsigned k = 0; k != kinds; ++k)
        probe::say("thread %d has done %lu of %s", late, (unsigned long)tallies[late].of(kind(k)), kind_names[k]);
      probe::fail("round %u: while thread %d was stopped, thread %d did not go on: it waits", now, victim, late);
    }
    const timespec second{1, 0};
    wait_while(finished, seen, &second);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long freezes = argc > 1 ? std::atol(argv[1]) : is_full_form() ? 10'000 : 300;
  seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : std::uint64_t(::time(nullptr));
  probe::say("%ld freezes, seed %lu", freezes, (unsigned long)seed);
  probe::random random(seed);
  struct sigaction action = {};
  action.sa_handler = park;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);

  pthread_t crew[threads];
  for (std::uintptr_t i = 0; i != threads; ++i)
    probe::expect(::pthread_create(&crew[i], nullptr, work, reinterpret_cast<void*>(i)) == 0, "pthread_create");
  while (begun.load() != threads) ::usleep(1000);

  for (long i = 0; i != freezes; ++i) {
    // It and three more run for a while, so that it stops at some instruction that it really came to.
    const int victim = int(random.below(threads));
    const std::uint32_t some =
        1u << victim | 1u << random.below(threads) | 1u << random.below(threads) | 1u << random.below(threads);
    const std::uint32_t before = parked.load();
    running.store(some);
    ring(some);
    ::usleep(unsigned(random.below(300)));
    only_inside.store(random.below(4) != 0);
    wanted.store(victim);
    while (parked.load() == before) {
      ::syscall(SYS_tgkill, ::getpid(), ids[victim], SIGUSR1);
      const timespec moment{0, 300'000};
      wait_while(parked, before, &moment);
    }
    running.store(0);
    const std::uint32_t now = round.fetch_add(1) + 1;
    ring(~0u);
    await_the_others(victim, now);
    thawed.fetch_add(1);
    wake_all(thawed);
  }
  enough.store(true);
  ring(~0u);
  for (pthread_t t : crew) ::pthread_join(t, nullptr);
  blocks.clear();
  std::uint64_t done[kinds] = {};
  for (const tally& t : tallies)
    for (unsigned k = 0; k != kinds; ++k) done[k] += t.of(kind(k));
  for (unsigned k = 0; k != kinds; ++k)
    tell(R"("test": "frozen", "operation": "%s", "done": %lu, "clock_ms": %.2f, "processor_ms": %.2f)",
         kind_names[k], (unsigned long)done[k], took.wall[k].milliseconds(), took.cpu[k].milliseconds());
  for (unsigned k = 0; k != kinds; ++k)
    probe::expect(took.cpu[k].milliseconds() < 100,
                  "req 13: %s took %.1f ms on the processor while a thread was stopped", kind_names[k],
                  took.cpu[k].milliseconds());
  tell(R"("test": "frozen", "freezes": %ld, "inside": %lu)", freezes, (unsigned long)inside.load());
  return 0;
}
