#pragma once
// meeting — where all workers wait for each other in the middle of their work, and one of them may do something alone:
// between two meetings nobody else moves, so it may also read what the others count.
#include <pthread.h>

namespace polder::bench {

class meeting {
 public:
  explicit meeting(unsigned members) { pthread_barrier_init(&barrier_, nullptr, members); }
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;
  ~meeting() { pthread_barrier_destroy(&barrier_); }

  void wait() { pthread_barrier_wait(&barrier_); }
  template <class Alone>
  void wait(bool does_it, Alone alone) {
    wait();
    if (does_it) alone();
    wait();
  }

 private:
  pthread_barrier_t barrier_;
};

}  // namespace polder::bench
