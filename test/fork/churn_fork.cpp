// Requirement 1: forks from a program whose other threads never stop allocating and freeing.
//   churn_fork [forks]     10,000 is the full measure, the default is what a test run can afford
#include <cstdlib>

#include "child_work.hpp"

using namespace polder;

static fork_test::exchange shared;

int main(int argc, char** argv) {
  unsigned forks = argc > 1 ? unsigned(std::atoi(argv[1])) : 1000;
  ::alarm(forks / 10 + 60);
  fork_test::churners<4> churning(shared);
  for (unsigned i = 0; i < forks; i++) {
    // The parent's own blocks move too, so that the forking thread's heap is in a different state each time.
    void* p = fork_test::made(16 + i % 3000, i);
    pid_t child = ::fork();
    probe::expect(child >= 0, "req 1: fork %u: %s", i, std::strerror(errno));
    if (child == 0) {
      fork_test::unmade(p);
      fork_test::child_work(shared, i, 3);
    }
    fork_test::unmade(p);
    fork_test::wait_for(child, "req 1: child");
  }
  probe::say("%u forks", forks);
}
