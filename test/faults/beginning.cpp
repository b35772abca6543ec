// Requirement 17: from its exec on a process makes the documented system calls, those of the heap's beginning and the loader's, and no
// other. The one that did would end it, by SIGSYS.
#include <unistd.h>

#include "../probe/again.hpp"
#include "allow_only.hpp"
#include "documented_calls.hpp"
#include "scenario.hpp"

using namespace polder;
using namespace polder::faults;

int main(int argc, char**) {
  ::alarm(100);
  if (argc > 1) return scenario::run(1), 0;
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) probe::skip("no seccomp here");
  const char* const begin[] = {"begin", nullptr};
  const char* const plain[] = {nullptr};
  const probe::outcome result = probe::run_again(begin, plain, 50, [] {
    allow_only({documented_calls, calls_at_the_beginning, loader_calls, tolerated_calls});
  });
  char how[128];
  result.describe(how, sizeof how);
  probe::expect(result.passed(), "req 17: a call that nobody documented (strace tells which): %s: %s", how,
                result.err);
}
