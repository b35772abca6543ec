// Requirement 12: threads that are cancelled, deferred, amid loops of malloc and free; their cleanup handlers and destructors free what
// they hold. Others go on, and a thousand leave no more memory than five hundred.
//   cancelled [THREADS]
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "../threads/crew.hpp"

using namespace polder;
using namespace polder::threads_test;

namespace {

constexpr int at_a_time = 8;
std::atomic<unsigned> seeds{1}, ended_well{0};

// What a thread holds, freed while the stack is unwound.
struct holdings {
  void* blocks[32] = {};
  ~holdings() {
    for (void* p : blocks)
      if (p != nullptr) unmade(p);
    ended_well.fetch_add(1);
  }
};

void free_in_a_handler(void* p) { unmade(p); }

void* work_till_cancelled(void*) {
  const unsigned seed = seeds.fetch_add(1);
  probe::random r(seed);
  holdings mine;
  for (;;) {
    void* const p = made(100, seed);
    pthread_cleanup_push(free_in_a_handler, p);
    for (int i = 0; i != 8; ++i) {
      void*& slot = mine.blocks[r.below(32)];
      if (slot != nullptr) unmade(slot);
      slot = made(probe::any_size(r, 64 << 10), seed);
    }
    ::pthread_testcancel();
    pthread_cleanup_pop(1);
  }
}

// What is resident when so many have been cancelled, in KiB.
long cancel(int threads) {
  probe::random r(seeds.load());
  for (int n = 0; n < threads; n += at_a_time) {
    pthread_t crew[at_a_time];
    for (auto& thread : crew) thread = start(work_till_cancelled, nullptr);
    for (auto thread : crew) {
      ::usleep(unsigned(r.below(200)));
      ::pthread_cancel(thread);
      unmade(made(probe::any_size(r, 64 << 10), 1));
    }
    for (auto thread : crew) {
      void* result = nullptr;
      ::pthread_join(thread, &result);
      probe::expect(result == PTHREAD_CANCELED, "a thread was not cancelled");
    }
  }
  ::malloc_trim(0);
  return probe::resident_kib();
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1000;
  ::alarm(100);
  const long before = cancel(threads / 2), more = cancel(threads / 2) - before;
  probe::say("%u threads cancelled; the second half added %ld KiB", ended_well.load(), more);
  probe::expect(more <= 4096, "req 12: cancelled threads leave %ld KiB", more);
}
