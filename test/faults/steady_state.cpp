// Requirement 17: after warm-up the heap makes documented system calls only. Any other ends the process, and is named.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <csignal>
#include <cstddef>
#include <iterator>

#include "documented_calls.hpp"
#include "scenario.hpp"

using namespace polder;
using namespace polder::faults;

// Were the signal blocked where the call is made, the kernel would end the process by SIGSYS itself.
static void name_it(int, siginfo_t* info, void*) {
  probe::fail("req 17: system call %d (see unistd_64.h) is not in the documented set", info->si_syscall);
}

static void allow_only_documented() {
  constexpr unsigned char known = std::size(documented_calls) + std::size(tolerated_calls);
  sock_filter program[known + 3];
  unsigned short n = 0;
  program[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  auto allow = [&](long number) {
    auto over = static_cast<unsigned char>(known - (n - 1));
    program[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(number), over, 0);
  };
  for (long number : documented_calls) allow(number);
  for (long number : tolerated_calls) allow(number);
  program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  sock_fprog filter{n, program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) probe::skip("no seccomp filter here");
}

int main() {
  ::alarm(100);
  struct sigaction action {};
  action.sa_sigaction = name_it;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  for (std::uint32_t seed = 1; seed <= 5; seed++) scenario::run(seed);
  allow_only_documented();
  for (std::uint32_t seed = 1; seed <= 40; seed++) scenario::run(seed);
  probe::say("40 rounds within %zu documented calls", std::size(documented_calls));
}
