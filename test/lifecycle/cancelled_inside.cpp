// Requirement 13: threads that are cancelled asynchronously, in malloc and free too, where POSIX forbids it. What each held is lost; those
// that come after it, one by one, are handed nothing of what it left torn.
//   cancelled_inside [THREADS]
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "../threads/crew.hpp"

using namespace polder;
using namespace polder::threads_test;

namespace {

std::atomic<int> begun{0};

// Allocates and frees, and little else, so that most are met inside.
void* work_till_cancelled(void* seed) {
  probe::random r(*static_cast<std::uint32_t*>(seed));
  void* held[300] = {};
  ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  begun.store(1);
  for (;;) {
    void*& slot = held[r.below(300)];
    void* const was = slot;
    slot = nullptr;
    std::free(was);
    slot = std::malloc(1 + r.below(2000));
    if (slot != nullptr) *static_cast<volatile char*>(slot) = 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1000;
  ::alarm(100);
  for (int i = 0; i != threads; ++i) {
    auto seed = std::uint32_t(i + 1);
    begun.store(0);
    pthread_t thread = start(work_till_cancelled, &seed);
    while (begun.load() == 0) ::usleep(10);
    ::usleep(unsigned(i) * 7919 % 1000);
    ::pthread_cancel(thread);
    void* result = nullptr;
    ::pthread_join(thread, &result);
    probe::expect(result == PTHREAD_CANCELED, "req 13: thread %d was not cancelled", i);
  }
  probe::say("%d threads cancelled", threads);
}
