// Signals whose handlers allocate and free, 5,000 a second, for as many as are asked for: of which every thread's own timer
// interrupts that thread wherever it is, in the middle of malloc most of the time; and of which a thread that does nothing
// else has them all, beside others that allocate. Two threads work, and one trims. Blocks go from handlers to threads and back.
//   signals inside|beside [SIGNALS] [SEED]
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "crew.hpp"

using namespace polder;
using namespace polder::progress;

namespace {

constexpr int workers = 2;
constexpr long period_ns = 200'000;

market blocks;
durations took;
tally tallies[workers];
std::atomic<bool> enough{false};
std::atomic<long> handled{0}, inside{0};
std::uint64_t seed;
thread_local worker* me;

void on_timer(int) {
  const int kept = errno;
  static std::atomic<std::uint32_t> turn{0};
  const std::uint32_t n = turn.fetch_add(1);
  if (me != nullptr && me->inside()) inside.fetch_add(1);
  // One block of each kind, one of them large; what lies in the market may be the interrupted thread's.
  for (const std::size_t size : {std::size_t{24} + n % 500, std::size_t{5000}, std::size_t{100'000}}) {
    void* const p = probe::opaque(std::malloc(size));
    probe::expect(p != nullptr, "no memory in a handler");
    probe::stamp(p, size, n);
    void* const other = size == 100'000 ? p : blocks.trade(n, p);
    if (other != nullptr) probe::expect_intact(other, "in a handler"), std::free(other);
  }
  handled.fetch_add(1);
  errno = kept;
}

timer_t start_timer(pid_t thread) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGUSR1;
  event._sigev_un._tid = thread;
  timer_t timer;
  probe::expect(::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create: %s", std::strerror(errno));
  const itimerspec often{{0, period_ns}, {0, period_ns}};
  ::timer_settime(timer, 0, &often, nullptr);
  return timer;
}

bool on_workers;

void* work(void* number) {
  const auto n = std::size_t(reinterpret_cast<std::uintptr_t>(number));
  worker w(blocks, tallies[n], seed + n, took, {});
  me = &w;
  timer_t timer{};
  if (on_workers) timer = start_timer(pid_t(::syscall(SYS_gettid)));
  while (!enough.load(std::memory_order_relaxed)) w.step();
  if (on_workers) ::timer_delete(timer);
  me = nullptr;
  w.free_all();
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const where = argc > 1 ? argv[1] : "";
  on_workers = std::strcmp(where, "inside") == 0;
  probe::expect(on_workers || std::strcmp(where, "beside") == 0, "usage: signals inside|beside [SIGNALS] [SEED]");
  const long signals = argc > 2 ? std::atol(argv[2]) : 50'000;
  seed = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : std::uint64_t(::time(nullptr));
  probe::say("%ld signals, seed %lu", signals, (unsigned long)seed);
  struct sigaction action = {};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
  pthread_t crew[workers];
  for (std::uintptr_t i = 0; i != workers; ++i)
    probe::expect(::pthread_create(&crew[i], nullptr, work, reinterpret_cast<void*>(i)) == 0, "pthread_create");
  timer_t timer{};
  if (!on_workers) timer = start_timer(::getpid());
  while (handled.load() < signals) {
    ::usleep(1000);
    ::malloc_trim(0);
  }
  if (!on_workers) ::timer_delete(timer);
  enough.store(true);
  for (pthread_t t : crew) ::pthread_join(t, nullptr);
  blocks.clear();
  std::uint64_t done = 0;
  for (const tally& t : tallies) done += t.of_all();
  tell(R"("test": "signals", "way": "%s", "handlers": %ld, "inside": %ld, "operations": %lu)", where,
       handled.load(), inside.load(), (unsigned long)done);
  probe::expect(!on_workers || inside.load() > 0, "no signal arrived in the middle of an operation");
  return 0;
}
