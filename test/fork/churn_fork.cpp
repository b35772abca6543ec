// Requirement 1: forks from a program whose other threads never stop allocating and freeing.
//   churn_fork [forks]     by default 10,000 in the full form, else what a test run can afford
#include <cstdlib>

#include "../full_form.hpp"
#include "scenarios.hpp"

using namespace polder;

static fork_test::exchange shared;

int main(int argc, char** argv) {
  unsigned forks = argc > 1 ? unsigned(std::atoi(argv[1])) : is_full_form() ? 10'000 : 1000;
  ::alarm(forks + 60);
  fork_test::fork_among_churners(shared, forks);
  probe::say("%u forks", forks);
}
