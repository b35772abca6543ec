// Requirement 12, and 4 where it matters to threads: memory in use after the heap's own thread-exit hook has run.
// A key's destructor re-arms itself as often as POSIX promises and allocates each time; C++ thread_locals do the same.
#include <unistd.h>
#include <cstdlib>

#include "late_destructors.hpp"

using namespace polder;
using namespace polder::threads_test;

// A destructor that allocates much: each of its operations has the heap for itself, but its blocks share what they lie in.
static constexpr int many = 20'000;
static void* kept[many];
static pthread_key_t key_of_many;
static void allocate_many(void*) {
  for (int i = 0; i != many; ++i) kept[i] = made(32, std::uint32_t(i));
}

static void many_in_a_destructor() {
  ::pthread_key_create(&key_of_many, allocate_many);
  const long before = probe::resident_kib();
  pthread_t thread = start(
      [](void*) -> void* {
        unmade(made(100, 1));  // the heap's own key comes first, and so its destructor
        ::pthread_setspecific(key_of_many, kept);
        return nullptr;
      },
      nullptr);
  ::pthread_join(thread, nullptr);
  const long grown = probe::resident_kib() - before;
  for (void* p : kept) unmade(p);
  probe::say("%d blocks of 32 bytes in a destructor: %ld KiB", many, grown);
  probe::expect(grown <= 4096, "req 12: %ld KiB for %d blocks of 32 bytes in a destructor", grown, many);
}

int main() {
  ::alarm(100);
  ::pthread_key_create(&key, again);
  many_in_a_destructor();
  end_threads_late(200);
  long early = probe::resident_kib();
  end_threads_late(3000);
  long late = probe::resident_kib();
  probe::say("resident %ld KiB, then %ld KiB", early, late);
  probe::expect(late <= early + 2048, "req 12: threads that allocate while they end leave %ld KiB", late - early);
}
