#pragma once
// scenarios — a threaded program that forks: from one thread while others churn, and from every thread at once.
#include "child_work.hpp"

namespace polder::fork_test {

inline void fork_among_churners(exchange& shared, unsigned forks) {
  churners<4> churning(shared);
  for (unsigned i = 0; i < forks; i++) {
    // The parent's own blocks move too, so that the forking thread's heap is in a different state each time.
    void* p = made(16 + i % 3000, i);
    pid_t child = ::fork();
    probe::expect(child >= 0, "fork %u: %s", i, std::strerror(errno));
    if (child == 0) {
      unmade(p);
      child_work(shared, i, 3);
    }
    unmade(p);
    wait_for(child, "a forked child");
  }
}

struct forking_thread {
  exchange* shared;
  unsigned seed, forks;

  static void* run(void* self) {
    auto [shared, seed, forks] = *static_cast<forking_thread*>(self);
    probe::random r(seed);
    void* own[64] = {};
    for (unsigned i = 0; i < forks; i++) {
      for (int n = 0; n < 200; n++) {
        void*& mine = own[r.below(64)];
        if (mine) unmade(mine);
        mine = made(probe::any_size(r), seed);
      }
      pid_t child = ::fork();
      probe::expect(child >= 0, "fork: %s", std::strerror(errno));
      if (child == 0) {
        for (void* p : own) {
          if (p) unmade(p);
        }
        child_work(*shared, i * 4 + seed, 2);
      }
      wait_for(child, "a child that a thread forked");
    }
    for (void* p : own) {
      if (p) unmade(p);
    }
    return nullptr;
  }
};

// Four threads churn and fork at the same time.
inline void fork_from_every_thread(exchange& shared, unsigned forks_each) {
  pthread_t threads[4];
  forking_thread each[4];
  for (unsigned i = 0; i < 4; i++) {
    each[i] = {&shared, i + 1, forks_each};
    probe::expect(::pthread_create(&threads[i], nullptr, forking_thread::run, &each[i]) == 0, "pthread_create");
  }
  for (auto thread : threads) ::pthread_join(thread, nullptr);
}

}  // namespace polder::fork_test
