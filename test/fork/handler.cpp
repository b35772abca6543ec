// Requirement 1, "from a signal handler": a timer's handler forks.
//   handler outside   the signal is let through only between this thread's own malloc and free: the child does all
//   handler inside    the signal may interrupt malloc itself: the child allocates nothing, and the parent must go on
#include <sys/time.h>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "child_work.hpp"

using namespace polder;

static fork_test::exchange shared;
static bool inside;
static volatile unsigned forked;

static void fork_in_handler(int) {
  int saved = errno;
  pid_t child = ::fork();
  if (child == 0) {
    if (inside) ::_exit(0);
    fork_test::child_work(shared, forked, 0);
  }
  probe::expect(child > 0, "req 1: fork in a handler: %s", std::strerror(errno));
  fork_test::wait_for(child, "req 1: child of a handler");
  forked = forked + 1;
  errno = saved;
}

int main(int argc, char** argv) {
  inside = argc > 1 && std::strcmp(argv[1], "inside") == 0;
  ::alarm(300);
  sigset_t timer, before;
  sigemptyset(&timer);
  sigaddset(&timer, SIGPROF);
  ::pthread_sigmask(SIG_BLOCK, &timer, &before);  // the churning threads never take it
  fork_test::churners<2> churning(shared);
  struct sigaction action {};
  action.sa_handler = fork_in_handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPROF, &action, nullptr);
  itimerval every{{0, 700}, {0, 700}};
  ::setitimer(ITIMER_PROF, &every, nullptr);

  if (inside) ::pthread_sigmask(SIG_UNBLOCK, &timer, nullptr);
  probe::random r(11);
  while (forked < 300) {
    void* p = fork_test::made(probe::any_size(r, 256 << 10), 3);
    if (!inside) {
      ::pthread_sigmask(SIG_UNBLOCK, &timer, nullptr);
      ::pthread_sigmask(SIG_BLOCK, &timer, nullptr);
    }
    fork_test::unmade(p);
  }
  ::pthread_sigmask(SIG_BLOCK, &timer, nullptr);
  every = {};
  ::setitimer(ITIMER_PROF, &every, nullptr);
}
