// Requirement 12, and 4 where it matters to threads: memory in use after the heap's own thread-exit hook has run.
// A key's destructor re-arms itself as often as POSIX promises and allocates each time; C++ thread_locals do the same.
#include <unistd.h>
#include <cstdlib>

#include "crew.hpp"

using namespace polder;
using namespace polder::threads_test;

static pthread_key_t key;

static void again(void* value) {
  auto times = reinterpret_cast<std::uintptr_t>(value);
  for (auto size : probe::small_sizes) unmade(made(size, std::uint32_t(times)));
  if (times < PTHREAD_DESTRUCTOR_ITERATIONS) ::pthread_setspecific(key, reinterpret_cast<void*>(times + 1));
}

static void* with_destructor(void*) {
  ::pthread_setspecific(key, reinterpret_cast<void*>(1));
  unmade(made(100, 1));
  return nullptr;
}

// Never called malloc before its destructors did.
static void* only_in_destructor(void*) {
  ::pthread_setspecific(key, reinterpret_cast<void*>(1));
  return nullptr;
}

int main() {
  ::alarm(100);
  ::pthread_key_create(&key, again);
  for (int i = 0; i < 200; i++)
    ::pthread_join(start(i % 2 ? with_destructor : only_in_destructor, nullptr), nullptr);
  long early = probe::resident_kib();
  for (int i = 0; i < 3000; i++)
    ::pthread_join(start(i % 2 ? with_destructor : only_in_destructor, nullptr), nullptr);
  long late = probe::resident_kib();
  probe::say("resident %ld KiB, then %ld KiB", early, late);
  probe::expect(late <= early + 2048, "req 12: threads that allocate while they end leave %ld KiB", late - early);
}
