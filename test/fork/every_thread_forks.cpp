// Requirement 1, "from any thread": four threads churn and fork at the same time.
//   every_thread_forks [forks a thread]
#include <cstdlib>

#include "scenarios.hpp"

using namespace polder;

static fork_test::exchange shared;

int main(int argc, char** argv) {
  unsigned forks = argc > 1 ? unsigned(std::atoi(argv[1])) : 150;
  ::alarm(forks + 60);
  fork_test::fork_from_every_thread(shared, forks);
}
