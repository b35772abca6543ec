// Requirement 17: after warm-up the heap makes documented system calls only. Any other ends the process, and is named.
//   steady_state [own_thread]     own_thread: so does the heap's own thread from its start
#include <semaphore.h>
#include <unistd.h>
#include <ctime>
#include <iterator>

#include "allow_only.hpp"
#include "documented_calls.hpp"
#include "scenario.hpp"

using namespace polder;
using namespace polder::faults;

static void allow_only_documented() { allow_only({documented_calls, tolerated_calls}); }

static void* make_and_free(void*) {
  constexpr std::size_t many = 24 * 1024, size = 1024;
  static thread_local void* block[many];
  for (void*& p : block) std::memset(p = probe::opaque(std::malloc(size)), 1, size);
  for (void* p : block) std::free(p);
  return nullptr;
}

static void in_a_thread(void* (*f)(void*)) {
  pthread_t other;
  probe::expect(::pthread_create(&other, nullptr, f, nullptr) == 0, "pthread_create");
  ::pthread_join(other, nullptr);
}

// Two threads leave enough behind for the heap to start a thread of its own, which is given a second: the sleep is a futex's.
static void wait_for_own_thread() {
  in_a_thread(make_and_free);
  make_and_free(nullptr);
  timespec until;
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec++;
  sem_t never;
  ::sem_init(&never, 0, 0);
  while (::sem_timedwait(&never, &until) != 0 && errno == EINTR) {
  }
}

int main(int argc, char**) {
  ::alarm(100);
  if (argc > 1) {
    in_a_thread([](void* p) { return p; });  // libc makes its first one ready
    allow_only_documented();
    wait_for_own_thread();
    return 0;
  }
  for (std::uint32_t seed = 1; seed <= 5; seed++) scenario::run(seed);
  allow_only_documented();
  for (std::uint32_t seed = 1; seed <= 40; seed++) scenario::run(seed);
  probe::say("40 rounds within %zu documented calls", std::size(documented_calls));
}
