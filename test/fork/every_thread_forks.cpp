// Requirement 1, "from any thread": four threads churn and fork at the same time.
//   every_thread_forks [forks a thread]
#include <cstdlib>

#include "child_work.hpp"

using namespace polder;

static fork_test::exchange shared;
static unsigned forks;

static void* fork_and_churn(void* number) {
  auto seed = unsigned(reinterpret_cast<std::uintptr_t>(number));
  probe::random r(seed);
  void* own[64] = {};
  for (unsigned i = 0; i < forks; i++) {
    for (int n = 0; n < 200; n++) {
      void*& mine = own[r.below(64)];
      if (mine) fork_test::unmade(mine);
      mine = fork_test::made(probe::any_size(r), seed);
    }
    pid_t child = ::fork();
    probe::expect(child >= 0, "req 1: fork: %s", std::strerror(errno));
    if (child == 0) {
      for (void* p : own) {
        if (p) fork_test::unmade(p);
      }
      fork_test::child_work(shared, i * 4 + seed, 2);
    }
    fork_test::wait_for(child, "req 1: child of a thread");
  }
  for (void* p : own) {
    if (p) fork_test::unmade(p);
  }
  return nullptr;
}

int main(int argc, char** argv) {
  forks = argc > 1 ? unsigned(std::atoi(argv[1])) : 150;
  ::alarm(forks + 60);
  pthread_t threads[4];
  for (std::uintptr_t i = 0; i < 4; i++) {
    probe::expect(::pthread_create(&threads[i], nullptr, fork_and_churn, reinterpret_cast<void*>(i + 1)) == 0,
                  "pthread_create");
  }
  for (auto thread : threads) ::pthread_join(thread, nullptr);
}
