// Requirement 12: 1000 threads that touched 50 size classes, freed everything and fell asleep keep at most 64 KiB each.
//   idle trim      the main thread calls malloc_trim(0)
//   idle trickle   the main thread goes on allocating a little for three decay times
//   idle asleep    so long it sleeps as well
#include <malloc.h>
#include <time.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>

#include "crew.hpp"

using namespace polder;
using namespace polder::threads_test;

static constexpr int threads = 1000, classes = 50, of_each = 4;
static pthread_barrier_t worked, measured;

static void* touch_and_sleep(void* number) {
  auto seed = std::uint32_t(reinterpret_cast<std::uintptr_t>(number));
  for (int c = 0; c < classes; c++) {
    void* p[of_each];
    for (auto& one : p) one = made(probe::small_sizes[c], seed);
    for (auto& one : p) unmade(one);
  }
  ::pthread_barrier_wait(&worked);
  ::pthread_barrier_wait(&measured);
  return nullptr;
}

static void pause(long milliseconds) {
  timespec t{milliseconds / 1000, milliseconds % 1000 * 1000000};
  ::nanosleep(&t, nullptr);
}

// scalloc's hot spans stay with their threads, whatever the others need: a page with the header and one with blocks for
// each of the twenty-odd classes that were touched.
static long allowed_kib() {
  const char* heap = std::getenv("POLDER_TEST_HEAP");
  return heap && std::strncmp(heap, "scalloc", 7) == 0 ? 192 : 64;
}

int main(int argc, char** argv) {
  bool trim = argc > 1 && std::strcmp(argv[1], "trim") == 0,
       asleep = argc > 1 && std::strcmp(argv[1], "asleep") == 0;
  ::alarm(100);
  ::pthread_barrier_init(&worked, nullptr, threads + 1);
  ::pthread_barrier_init(&measured, nullptr, threads + 1);
  static pthread_t crew[threads];
  unmade(made(100, 1));
  long before = probe::resident_kib();
  for (std::uintptr_t i = 0; i < threads; i++) crew[i] = start(touch_and_sleep, reinterpret_cast<void*>(i));
  ::pthread_barrier_wait(&worked);
  long busy = probe::resident_kib();
  if (trim) {
    ::malloc_trim(0);
  } else if (asleep) {
    for (int i = 0; i < 300 && probe::resident_kib() - before > allowed_kib() * threads; i++) pause(100);
  } else {
    for (int i = 0; i < 300; i++) {
      for (std::size_t size = 24; size <= 3000; size *= 5) unmade(made(size, 1));
      pause(10);
    }
  }
  long idle = probe::resident_kib();
  probe::say("an idle thread, its stack included: %ld KiB after its work, %ld KiB %s", (busy - before) / threads,
             (idle - before) / threads,
             trim     ? "after malloc_trim"
             : asleep ? "asleep"
                      : "after three decay times");
  probe::expect(idle - before <= allowed_kib() * threads, "req 12: an idle thread keeps %ld KiB",
                (idle - before) / threads);
  ::pthread_barrier_wait(&measured);
  for (auto thread : crew) ::pthread_join(thread, nullptr);
}
