#pragma once
// system_calls — counts the system calls that a piece of a program makes, in all threads: a process is traced by its parent
// (ptrace), which is told by calls of a number that no kernel knows from where to where it counts. Exact, and it costs nothing
// where no call is made.
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "expect.hpp"

namespace polder::probe {

class system_calls {
 public:
  // Has a child run `body` and end; its wait status.
  template <class Body>
  int trace(Body body) {
    const pid_t child = ::fork();
    expect(child >= 0, "fork: %s", std::strerror(errno));
    if (child == 0) {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(refused);
      ::raise(SIGSTOP);
      body();
      ::_exit(0);
    }
    const int status = watch(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == refused) skip("ptrace is refused here");
    return status;
  }

  // For the body.
  void count_from_here() { ::syscall(marker, 1); }
  void count_to_here() { ::syscall(marker, 0); }
  long all() const { return counts_->all; }
  long of(long number) const { return counts_->of[number]; }

 private:
  static constexpr long marker = 0x5eed, numbers = 1024;
  static constexpr int refused = 126;

  // Written by the parent while the child stands still at a mark.
  struct counts {
    long all, of[numbers];
  };

  int watch(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) return status;
    const long wishes = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    expect(::ptrace(PTRACE_SETOPTIONS, child, nullptr, wishes) == 0, "PTRACE_SETOPTIONS: %s", std::strerror(errno));
    ::ptrace(PTRACE_SYSCALL, child, nullptr, 0);
    for (;;) {
      const pid_t who = ::waitpid(-1, &status, __WALL);
      expect(who > 0, "waitpid: %s", std::strerror(errno));
      if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (who == child) return status;
        continue;
      }
      const int signal = WSTOPSIG(status);
      if (signal == (SIGTRAP | 0x80)) called(who);
      const bool meant_for_it = signal != (SIGTRAP | 0x80) && signal != SIGTRAP && signal != SIGSTOP;
      ::ptrace(PTRACE_SYSCALL, who, nullptr, meant_for_it ? signal : 0);
    }
  }

  void called(pid_t who) {
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, who, sizeof info, &info) <= 0)
      skip("Linux before 5.3 tells of no system call");
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return;
    if (info.entry.nr == marker) {
      counting_ = info.entry.args[0] != 0;
      if (counting_) *counts_ = {};
    } else if (counting_) {
      ++counts_->all;
      if (info.entry.nr < numbers) ++counts_->of[info.entry.nr];
    }
  }

  static counts* shared() {
    void* const p = ::mmap(nullptr, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    expect(p != MAP_FAILED, "mmap: %s", std::strerror(errno));
    return static_cast<counts*>(p);
  }

  counts* const counts_ = shared();
  bool counting_ = false;
};

}  // namespace polder::probe
