// A signal handler that uses the heap in the middle of malloc. POSIX does not make malloc async-signal-safe; programs do
// it all the same, in crash reporters and profilers, and most of the time it goes well.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "../threads/crew.hpp"
#include "probe.hpp"

namespace polder::conform {
namespace {

using threads_test::made, threads_test::unmade;

volatile sig_atomic_t handled;
void in_handler(int) {
  const int kept = errno;
  for (std::size_t n = 24; n < 1 << 20; n *= 3) unmade(made(n, 9));
  errno = kept;
  handled = handled + 1;
}
void* idle(void*) {
  for (;;) ::pause();
}

void malloc_in_handler() {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &own, nullptr);
  threads_test::start(idle, nullptr);  // no allocator may take the process for one without threads
  ::pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  struct sigaction action {};
  action.sa_handler = in_handler;
  ::sigaction(SIGUSR1, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer;
  probe::expect(::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  const itimerspec often{{0, 200'000}, {0, 200'000}};
  ::timer_settime(timer, 0, &often, nullptr);
  probe::random r(6);
  void* own_blocks[256] = {};
  while (handled < 3000) {
    void*& p = own_blocks[r.below(256)];
    if (p) unmade(p);
    p = made(probe::any_size(r, 256 << 10), 1);
  }
  ::timer_delete(timer);
  note("%d handlers", int(handled));
  ::_exit(0);
}

const demand probes[] = {
    {"signal-handler", "beyond", "3,000 signal handlers use the heap, most of them in the middle of malloc or free",
     "none; malloc is not async-signal-safe (POSIX.1-2017 2.4.3)", "one lock, forgotten at fork", 15,
     malloc_in_handler},
};

}  // namespace

std::span<const demand> signal_probes() { return probes; }

}  // namespace polder::conform
