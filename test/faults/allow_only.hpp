#pragma once
// allow_only — from now on a system call of the process that is in none of these lists ends it, and is named.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <csignal>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "../probe/expect.hpp"

namespace polder::faults {

// Were the signal blocked where the call is made, the kernel would end the process by SIGSYS itself.
inline void name_it(int, siginfo_t* info, void*) {
  probe::fail("req 17: system call %d (see unistd_64.h) is not in the documented set", info->si_syscall);
}

inline void allow_only(std::initializer_list<std::span<const long>> lists) {
  struct sigaction action {};
  action.sa_sigaction = name_it;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);

  std::size_t known = 0;
  for (const auto list : lists) known += list.size();
  sock_filter program[100];
  probe::expect(known + 3 <= sizeof program / sizeof *program, "%zu calls are more than there is room for", known);
  unsigned short n = 0;
  program[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (const auto list : lists) {
    for (const long number : list) {
      const auto over = static_cast<unsigned char>(known + 1 - n);
      program[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(number), over, 0);
    }
  }
  program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  sock_fprog filter{n, program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) probe::skip("no seccomp filter here");
}

}  // namespace polder::faults
