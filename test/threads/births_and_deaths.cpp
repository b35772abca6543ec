// Requirement 12: threads are born while others end, each freeing what its parent left; with one CPU and with all.
//   births_and_deaths [one-cpu]
#include <sched.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "crew.hpp"

using namespace polder;
using namespace polder::threads_test;

static constexpr int lines = 8, generations = 400, legacy = 40;

struct person {
  int generation;
  std::uint32_t seed;
  void* from_parent[legacy];
};

static std::atomic<int> lines_alive{lines};

// Frees the legacy, leaves one of its own to a child, and ends while the child begins.
static void* live(void* self) {
  auto* me = static_cast<person*>(self);
  probe::random r(me->seed);
  for (void* p : me->from_parent) {
    if (p) unmade(p);
  }
  if (me->generation == 0) {
    std::free(me);
    lines_alive.fetch_sub(1);
    return nullptr;
  }
  auto* child = static_cast<person*>(std::calloc(1, sizeof(person)));
  probe::expect(child != nullptr, "calloc is NULL");
  child->generation = me->generation - 1;
  child->seed = me->seed + 1;
  for (auto& p : child->from_parent) p = made(probe::any_size(r, 128 << 10), child->seed);
  std::free(me);
  ::pthread_detach(start(live, child));
  // Some work of its own while the child already frees.
  for (int i = 0; i < 20; i++) unmade(made(probe::any_size(r), 1));
  return nullptr;
}

int main(int argc, char** argv) {
  ::alarm(100);
  if (argc > 1 && std::strcmp(argv[1], "one-cpu") == 0) {
    cpu_set_t all, one;
    ::sched_getaffinity(0, sizeof all, &all);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    // Again from the start, so that the heap too meets a single CPU from its first call.
    if (!std::getenv("POLDER_TEST_ONE_CPU")) {
      ::setenv("POLDER_TEST_ONE_CPU", "1", 1);
      ::execv("/proc/self/exe", argv);
      probe::fail("execv");
    }
  }
  for (int i = 0; i < lines; i++) {
    auto* first = static_cast<person*>(std::calloc(1, sizeof(person)));
    first->generation = generations;
    first->seed = std::uint32_t(i) * 1000;
    ::pthread_detach(start(live, first));
  }
  while (lines_alive.load() > 0) ::usleep(1000);
  probe::say("%d threads", lines * (generations + 1));
}
