#pragma once
// refuse — system calls that the kernel refuses the calling thread, and whatever it becomes, from now on.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>

#include "../probe/expect.hpp"

namespace polder::faults {

inline void install(sock_filter* program, unsigned short length) {
  sock_fprog filter{length, program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) probe::fail("no seccomp filter");
}

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
  install(program, n);
}

inline void refuse(long number, int error) { refuse(&number, 1, error); }

// Where `look`, a jump over the next instruction or over none, does not pass the refusal by for this argument.
inline void refuse(long number, std::size_t argument, sock_filter look, int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(number), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               unsigned(offsetof(seccomp_data, args) + argument * sizeof(seccomp_data::args[0]))),
      look,
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | unsigned(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  install(program, sizeof program / sizeof *program);
}

// Where its first argument is this one.
inline void refuse(long number, unsigned argument, int error) {
  refuse(number, 0, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1), error);
}

// Where its second argument, a size, is smaller.
inline void refuse_smaller(long number, unsigned size, int error) {
  refuse(number, 1, BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, size, 1, 0), error);
}

}  // namespace polder::faults
