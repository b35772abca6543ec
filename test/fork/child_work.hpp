#pragma once
// child_work — what every forked child does (requirement 1): all size classes, inherited blocks, a thread, a fork.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>

#include "../probe/expect.hpp"
#include "../probe/made.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/sizes.hpp"

namespace polder::fork_test {

// Blocks that threads hand to one another. A child empties the copy it inherited.
struct exchange {
  static constexpr std::size_t slots = 64;
  std::atomic<void*> slot[slots];
};

using probe::made;
using probe::unmade;

inline void every_class(std::uint32_t seed) {
  probe::for_every_size([seed](std::size_t size) {
    void* p = made(size, seed);
    void* q = made(size, seed + 1);
    unmade(p);
    unmade(q);
  });
  void* grown = probe::opaque(std::malloc(24));
  for (std::size_t size = 48; size <= 1 << 20; size *= 3) {
    grown = std::realloc(grown, size);
    probe::expect(grown != nullptr, "realloc to %zu is NULL", size);
  }
  std::free(grown);
}

inline void free_inherited(exchange& shared) {
  for (auto& slot : shared.slot) {
    if (void* p = slot.exchange(nullptr, std::memory_order_acquire)) unmade(p);
  }
}

inline void* thread_in_child(void* shared) {
  free_inherited(*static_cast<exchange*>(shared));
  for (auto size : probe::small_sizes) unmade(made(size, 7));
  return nullptr;
}

inline void wait_for(pid_t child, const char* what) {
  int status = 0;
  pid_t got;
  while ((got = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  probe::expect(got == child, "%s: waitpid: %s", what, std::strerror(errno));
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) probe::end(probe::verdict::hung, "%s: hung", what);
  if (WIFSIGNALED(status))
    probe::end(probe::verdict::crashed, "%s: killed by signal %d (%s)", what, WTERMSIG(status),
               ::strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == int(probe::verdict::hung) || WEXITSTATUS(status) == int(probe::verdict::crashed))
    ::_exit(WEXITSTATUS(status));  // the child has told of its own child
  probe::expect(WEXITSTATUS(status) == 0, "%s: exit status %d", what, WEXITSTATUS(status));
}

// Runs in the child; ends it. One child in 16 goes through every size, one starts a thread, one forks
// again, to `depth`, and all meet the small classes.
[[noreturn]] inline void child_work(exchange& shared, unsigned number, int depth) {
  ::alarm(30);
  if (number % 16 == 0) {
    every_class(number);
  } else {
    for (std::size_t i = number % 4; i < probe::small_sizes.size(); i += 4)
      unmade(made(probe::small_sizes[i], number));
  }
  if (number % 16 == 4) {
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, thread_in_child, &shared) == 0, "no thread in child %u",
                  number);
    ::pthread_join(thread, nullptr);
  }
  free_inherited(shared);
  if (number % 16 == 8 && depth > 0) {
    pid_t child = ::fork();
    probe::expect(child >= 0, "nested fork: %s", std::strerror(errno));
    if (child == 0) child_work(shared, number + 8, depth - 1);
    wait_for(child, "nested child");
  }
  ::_exit(0);
}

// Churns until told to stop: own blocks, and others' through the exchange.
struct churn {
  exchange* shared;
  std::atomic<bool>* stop;
  std::uint32_t seed;

  void run() {
    // Behind the forker and its children in line, so that a run has many forks and not one long churn; a thread
    // that waits for its turn in the middle of malloc is what a fork should meet anyway.
    ::setpriority(PRIO_PROCESS, id_t(::gettid()), 10);
    probe::random r(seed);
    void* own[32] = {};
    while (!stop->load(std::memory_order_relaxed)) {
      auto turn = r.next();
      void*& mine = own[turn % 32];
      if (mine) {
        unmade(mine);
        mine = nullptr;
      } else {
        mine = made(probe::any_size(r, 64 << 10), std::uint32_t(turn));
      }
      auto& slot = shared->slot[(turn >> 8) % exchange::slots];
      if (void* p = slot.exchange(nullptr, std::memory_order_acquire)) {
        unmade(p);
      } else {
        void* none = nullptr;
        void* q = made(probe::any_size(r), std::uint32_t(turn));
        if (!slot.compare_exchange_strong(none, q, std::memory_order_release)) unmade(q);
      }
    }
    for (void* p : own) {
      if (p) unmade(p);
    }
  }

  static void* entry(void* self) {
    static_cast<churn*>(self)->run();
    return nullptr;
  }
};

// `count` threads churning for as long as this lives.
template <int count>
class churners {
 public:
  explicit churners(exchange& shared) {
    for (int i = 0; i < count; i++) {
      work_[i] = churn{&shared, &stop_, std::uint32_t(i + 1)};
      probe::expect(::pthread_create(&threads_[i], nullptr, churn::entry, &work_[i]) == 0, "pthread_create");
    }
  }
  ~churners() {
    stop_.store(true, std::memory_order_relaxed);
    for (auto thread : threads_) ::pthread_join(thread, nullptr);
  }

 private:
  std::atomic<bool> stop_{false};
  churn work_[count];
  pthread_t threads_[count];
};

}  // namespace polder::fork_test
