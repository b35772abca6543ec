#pragma once
// answered — system calls of this process that the kernel answers without doing them, by a seccomp filter. It cannot
// be taken back: in a forked child only.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace polder::os {

namespace seccomp {
inline bool install(sock_filter* program, unsigned short length) {
  sock_fprog whole{.len = length, .filter = program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

inline bool install(long call, std::uint32_t action) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, std::uint32_t(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return install(program, sizeof program / sizeof *program);
}
}  // namespace seccomp

// Every `call` fails with `error` from now on; 0: it says that it succeeded. False: there are no filters here.
inline bool answer(long call, int error) {
  return seccomp::install(call, SECCOMP_RET_ERRNO | std::uint32_t(error));
}

// SIGSYS comes in place of every `call`, to the thread that would make it.
inline bool answer_by_signal(long call) { return seccomp::install(call, SECCOMP_RET_TRAP); }

// The process dies by SIGSYS when the first or the second argument of `call` has one of the bits of `mask`.
inline bool die_of_bits(long call, std::uint32_t mask) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, std::uint32_t(call), 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 3, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  return seccomp::install(program, sizeof program / sizeof *program);
}

}  // namespace polder::os
