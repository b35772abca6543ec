// Requirement 1, "from a static constructor": forks before main, alone and with churning threads.
#include <cstdlib>

#include "child_work.hpp"

using namespace polder;

static fork_test::exchange shared;

namespace {
struct forks_early {
  forks_early() {
    ::alarm(300);
    for (unsigned i = 0; i < 50; i++) fork_once(i);
    fork_test::churners<2> churning(shared);
    for (unsigned i = 0; i < 150; i++) fork_once(i);
  }

  static void fork_once(unsigned i) {
    pid_t child = ::fork();
    probe::expect(child >= 0, "req 1: fork in a constructor: %s", std::strerror(errno));
    if (child == 0) fork_test::child_work(shared, i, 2);
    fork_test::wait_for(child, "req 1: child of a constructor");
  }
};
}  // namespace

[[gnu::init_priority(101)]] static forks_early before_main;

int main() {
  for (unsigned i = 0; i < 50; i++) forks_early::fork_once(i);
}
