// Requirement 17: what the heap may use but must not need. Each is refused by the kernel from the exec on, with ENOSYS
// and with EPERM, and everything works; glibc's rseq registration is turned off as well. mbind is called where numa=on
// asks for it, on a machine that is imagined to have two nodes.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../probe/again.hpp"
#include "refuse.hpp"
#include "scenario.hpp"
#include "together.hpp"

using namespace polder;
using polder::faults::refuse;

struct optional_call {
  const char* name;
  long number;
};

static constexpr optional_call optional_calls[] = {
    {"membarrier", SYS_membarrier},
    {"getrandom", SYS_getrandom},
    {"prctl", SYS_prctl},
    {"rseq", SYS_rseq},
    {"getcpu", SYS_getcpu},
    {"mbind", SYS_mbind},
    {"set_mempolicy", SYS_set_mempolicy},
    {"get_mempolicy", SYS_get_mempolicy},
    {"sched_getaffinity", SYS_sched_getaffinity},
    {"madvise", SYS_madvise},
    {"mremap", SYS_mremap},
    {"mincore", SYS_mincore},
    {"sysinfo", SYS_sysinfo},
    {"clock_gettime", SYS_clock_gettime},
    {"sched_yield", SYS_sched_yield},
    {"prlimit64", SYS_prlimit64},
    {"gettid", SYS_gettid},
    {"getpid", SYS_getpid},
    {"tgkill", SYS_tgkill},
    {"openat, after which nothing can be read", SYS_openat},
    {"pread64", SYS_pread64},
    {"read", SYS_read},
    {"close", SYS_close},
    {"rt_sigprocmask", SYS_rt_sigprocmask},
};

// Others do not promise that a handler or a thread's end may meet them anywhere, and some know of no nodes.
static bool is_flagship() {
  const char* const heap = std::getenv("POLDER_TEST_HEAP");
  return heap == nullptr || std::strcmp(heap, "polder") == 0;
}

// The dynamic linker would not survive it.
static bool only_after_start(long number) {
  return number == SYS_openat || number == SYS_pread64 || number == SYS_read || number == SYS_close;
}

int main(int argc, char** argv) {
  ::alarm(400);
  if (argc > 1) {
    // Refused here and not before the exec.
    if (std::strncmp(argv[1], "late:", 5) == 0) {
      long number = std::atol(argv[1] + 5);
      refuse(number, std::atoi(std::strchr(argv[1] + 5, ':') + 1));
    }
    for (std::uint32_t seed = 1; seed <= 3; seed++) {
      probe::expect(polder::faults::scenario::run(seed) == 0, "req 17: a request failed");
    }
    if (is_flagship()) polder::faults::together::run(1);
    return 0;
  }
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) probe::skip("no seccomp here");

  int failures = 0;
  const char* plain[] = {nullptr};
  const char* work[] = {"work", nullptr};
  const char* two_nodes[] = {"POLDER_OPTIONS=numa=on", "POLDER_TOPOLOGY=2x48", nullptr};
  auto count = [&](const char* name, bool passed) {
    if (!passed) failures++, probe::say("req 17: %s", name);
  };
  for (auto& it : optional_calls) {
    const int errors[] = {ENOSYS, EPERM};
    for (int error : errors) {
      char name[96], late[48];
      std::snprintf(name, sizeof name, "%s refused with %s", it.name, error == ENOSYS ? "ENOSYS" : "EPERM");
      std::snprintf(late, sizeof late, "late:%ld:%d", it.number, error);
      const char* after_start[] = {late, nullptr};
      if (only_after_start(it.number)) {
        count(name, probe::passes(name, after_start, plain, 20));
      } else {
        count(name, probe::passes(name, work, plain, 20, [&] { refuse(it.number, error); }));
      }
      if (it.number == SYS_mbind && is_flagship()) {
        std::strcat(name, ", asked for");
        count(name, probe::passes(name, work, two_nodes, 20, [&] { refuse(it.number, error); }));
      }
    }
  }
  count("all at once", probe::passes("all at once refused with ENOSYS", work, plain, 20, [] {
          long numbers[32];
          int n = 0;
          for (auto& it : optional_calls) {
            if (!only_after_start(it.number) && it.number != SYS_sched_yield) numbers[n++] = it.number;
          }
          refuse(numbers, n, ENOSYS);
        }));
  const char* without_rseq[] = {"GLIBC_TUNABLES=glibc.pthread.rseq=0", nullptr};
  count("rseq", probe::passes("glibc.pthread.rseq=0", work, without_rseq, 20));
  return failures ? 1 : 0;
}
