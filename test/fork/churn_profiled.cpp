// Requirement 1: the same forks as churn_fork's, with the heap profile on, which takes a sample every 4 KiB.
#include "../full_form.hpp"
#include "../probe/the_heap.hpp"
#include "scenarios.hpp"

using namespace polder;

static fork_test::exchange shared;

int main() {
  const unsigned forks = is_full_form() ? 3000 : 200;
  ::alarm(forks + 60);
  probe::expect(the_heap::profile_start(4096) == 0, "there is no heap profile to be had");
  fork_test::fork_among_churners(shared, forks);
  probe::expect(the_heap::profile_stop() == 0, "the heap profile is not on any more");
  probe::say("%u forks", forks);
}
