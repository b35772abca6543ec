// Requirement 1: handlers that were registered before the heap's run last before a fork, and allocate there.
#include <cstdlib>

#include "scenarios.hpp"

using namespace polder;

static fork_test::exchange shared;
static unsigned prepared;
static bool registered;

static void use_heap() {
  prepared++;
  for (auto size : probe::small_sizes) fork_test::unmade(fork_test::made(size, 1));
  void* blocks[400];
  for (unsigned i = 0; i < 400; i++) blocks[i] = fork_test::made(i * 37 + 1, i);
  for (void* p : blocks) fork_test::unmade(p);
}

// Before the constructor of any library, the heap's own among them.
static void before_all() { registered = ::pthread_atfork(use_heap, use_heap, nullptr) == 0; }
[[gnu::used, gnu::section(".preinit_array")]] static void (*const first)() = before_all;

int main() {
  ::alarm(60);
  probe::expect(registered, "pthread_atfork before all constructors");
  fork_test::fork_among_churners(shared, 60);
  probe::expect(prepared == 120, "req 1: %u of 120 calls of the handlers", prepared);
}
