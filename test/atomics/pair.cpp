// How many atomic read-modify-writes a malloc and its free execute when nothing is to be filled or flushed: none.
//   pair SIZE     single-steps a child through malloc(SIZE) and free, and looks at each instruction
// x86-64 alone: there such an instruction has a lock prefix, or is an exchange with memory.
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"

using namespace polder;

static void pairs(std::size_t size) {
  for (int i = 0; i < 1000; i++) std::free(probe::opaque(std::malloc(size)));
  ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::raise(SIGSTOP);
  std::free(probe::opaque(std::malloc(size)));
  ::raise(SIGSTOP);
  ::_exit(0);
}

// Of an instruction's first bytes: is it an atomic read-modify-write?
static bool is_atomic(std::uint64_t bytes) {
  for (int i = 0; i < 4; i++, bytes >>= 8) {
    const unsigned b = bytes & 0xff;
    if (b == 0xf0) return true;                                                   // lock
    if (b == 0x86 || b == 0x87) return (bytes >> 8 & 0xc0) != 0xc0;               // xchg with memory
    if (b != 0x66 && b != 0xf2 && b != 0xf3 && (b & 0xf0) != 0x40) return false;  // no other prefix
  }
  return false;
}

int main(int argc, char** argv) {
  const std::size_t size = argc > 1 ? std::size_t(std::atol(argv[1])) : 16;
  const pid_t child = ::fork();
  if (child == 0) pairs(size);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return probe::say("no ptrace here"), 0;
  long steps = 0, atomics = 0;
  // From the stop in one raise() to the stop in the next.
  while (::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 && ::waitpid(child, &status, 0) == child &&
         WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
    user_regs_struct at;
    if (::ptrace(PTRACE_GETREGS, child, nullptr, &at) != 0) break;
    atomics += is_atomic(std::uint64_t(::ptrace(PTRACE_PEEKTEXT, child, at.rip, nullptr)));
    steps++;
  }
  const bool there = WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  probe::expect(there && steps > 60, "the child did not come through (%ld steps)", steps);
  probe::say("malloc(%zu), free and a raise: %ld instructions, %ld of them atomic", size, steps, atomics);
  probe::expect(atomics == 0, "%ld atomic read-modify-writes on the fast paths", atomics);
}
