#pragma once
// refuse — system calls that the kernel refuses the calling thread, and whatever it becomes, from now on.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>

#include "../probe/expect.hpp"

namespace polder::faults {

inline void refuse(const long* numbers, int count, int error) {
  sock_filter program[40];
  unsigned short n = 0;
  program[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (int i = 0; i < count; i++) {
    program[n++] =
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(numbers[i]), static_cast<unsigned char>(count - i), 0);
  }
  program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | unsigned(error));
  sock_fprog filter{n, program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) probe::fail("no seccomp filter");
}

}  // namespace polder::faults
