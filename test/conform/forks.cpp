// Fork. POSIX lets the child of a threaded program call async-signal-safe functions only; glibc has promised more since
// 2.24, and every program that forks from a thread and then does more than exec counts on it.
#include <dlfcn.h>

#include <cstdlib>

#include "../fork/scenarios.hpp"
#include "../probe/again.hpp"
#include "probe.hpp"

namespace polder::conform {
namespace {

fork_test::exchange shared;

void one_thread() {
  static void* inherited[2000];
  probe::random r(3);
  for (std::uint32_t i = 0; i < 2000; i++) inherited[i] = fork_test::made(probe::any_size(r, 64 << 10), i);
  for (unsigned i = 0; i < 40; i++) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      for (unsigned k = i % 2; k < 2000; k += 2) fork_test::unmade(inherited[k]);
      fork_test::child_work(shared, i * 4, 2);
    }
    fork_test::wait_for(child, "a forked child");
  }
  for (void* p : inherited) fork_test::unmade(p);
}

void among_churners() { fork_test::fork_among_churners(shared, 300); }
void from_every_thread() { fork_test::fork_from_every_thread(shared, 60); }

// A program's own handlers use the heap. POSIX runs them in the ordinary course of the process.
void use_heap() {
  for (std::size_t n = 24; n < 3 << 20; n *= 5) fork_test::unmade(fork_test::made(n, 1));
}
void handlers_of_main() {
  probe::expect(::pthread_atfork(use_heap, use_heap, use_heap) == 0, "pthread_atfork");
  fork_test::fork_among_churners(shared, 60);
}
void handlers_of_a_library() {
  if (std::getenv("POLDER_PROBE_EARLY") == nullptr) {
    ::setenv("POLDER_PROBE_EARLY", "atfork", 1);
    ::execl("/proc/self/exe", "polder-probe", "run", "atfork-before-the-heap", nullptr);
    probe::fail("exec");
  }
  fork_test::fork_among_churners(shared, 60);
}

const demand probes[] = {
    {"fork", "fork",
     "the child of a program with one thread has the whole heap: all sizes, inherited blocks, threads, forks",
     "POSIX.1-2017 fork", "no heap in a child", 60, one_thread},
    {"fork-among-threads", "fork", "the same after 300 forks while four threads churn, children forking in turn",
     "glibc 2.24 (bug 19431); POSIX leaves it open", "one lock, forgotten at fork", 90, among_churners},
    {"fork-from-every-thread", "fork", "the same when four threads churn and fork at once",
     "glibc 2.24 (bug 19431); POSIX leaves it open", "one lock, forgotten at fork", 90, from_every_thread},
    {"atfork", "fork", "a program's own pthread_atfork handlers may use the heap", "POSIX.1-2017 pthread_atfork",
     "fork handlers of the second thread", 60, handlers_of_main},
    {"atfork-before-the-heap", "fork",
     "so may handlers that a library registered before the heap's constructor ran", "POSIX.1-2017 pthread_atfork",
     "fork handlers of a constructor", 60, handlers_of_a_library},
};

}  // namespace

std::span<const demand> fork_probes() { return probes; }

}  // namespace polder::conform
