// Requirement 12, and 4 where it matters to threads: memory in use after the heap's own thread-exit hook has run.
// A key's destructor re-arms itself as often as POSIX promises and allocates each time; C++ thread_locals do the same.
#include <unistd.h>
#include <cstdlib>

#include "late_destructors.hpp"

using namespace polder;
using namespace polder::threads_test;

int main() {
  ::alarm(100);
  ::pthread_key_create(&key, again);
  end_threads_late(200);
  long early = probe::resident_kib();
  end_threads_late(3000);
  long late = probe::resident_kib();
  probe::say("resident %ld KiB, then %ld KiB", early, late);
  probe::expect(late <= early + 2048, "req 12: threads that allocate while they end leave %ld KiB", late - early);
}
