// Under hardened=1 faults are looked at first. One that somebody sent, by kill or raise, is no fault of an instruction that is done
// again: it does what it does in a program without the heap.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../probe/expect.hpp"

using namespace polder;

namespace {

template <class F>
int status_of(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    f();
    ::_exit(0);
  }
  int status = -1;
  probe::expect(child > 0 && ::waitpid(child, &status, 0) == child, "fork");
  return status;
}

bool is_fault(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV; }

}  // namespace

int main() {
  probe::expect(is_fault(status_of([] { ::raise(SIGSEGV); })), "raise(SIGSEGV) was survived");
  probe::expect(is_fault(status_of([] { ::kill(::getpid(), SIGSEGV); })), "kill(SIGSEGV) was survived");
  probe::expect(is_fault(status_of([] { ::sigqueue(::getpid(), SIGSEGV, {}); })), "sigqueue(SIGSEGV) was survived");
  probe::expect(is_fault(status_of([] { *static_cast<volatile int*>(nullptr) = 1; })),
                "a write to null was survived");
}
