// Records what test_timeline.py expects: two threads, an interval, points, a gauge, one buffer that is too small.
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include <polder/os/timeline.hpp>

namespace timeline = polder::os::timeline;
using timeline::kind;

int main(int, char** arguments) {
  if (!timeline::start({.file = arguments[1], .events_a_thread = 5})) return 1;
  {
    timeline::span s{kind::batch_free, 7};
    ::usleep(20'000);
    s.count(3'000'000'000'000);
  }
  timeline::mark(kind::epoch_advance, 8);
  timeline::mark(kind::unreclaimed, 8, 12);
  std::thread([] {
    ::pthread_setname_np(::pthread_self(), "worker");
    for (unsigned i = 0; i != 9; ++i) timeline::span s{kind::refill, i};
  }).join();
  return std::atoi(arguments[2]) != 0 && !timeline::stop();  // else the end of the process
}
