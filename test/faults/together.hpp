#pragma once
// together — what threads, children and handlers do to a heap that scenario.hpp does not: blocks of a thread that sleeps, of one
// that has ended by the raw exit system call, and of one that works are freed by others; a child allocates; a handler interrupts it
// all. Nothing of it may be refused.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/stamp.hpp"

namespace polder::faults {

class together {
 public:
  static void run(std::uint32_t seed) {
    struct sigaction action = {};
    action.sa_handler = interrupt;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGALRM, &action, nullptr);
    set_timer(500);
    together t(seed);
    t.begin();
    t.free_theirs();
    ::malloc_trim(0);
    t.fork();
    t.end();
    set_timer(0);
    probe::expect(interruptions_.load() != 0, "no handler ran");
    ::malloc_trim(0);
  }

 private:
  static constexpr int each = 2000, crew = 3;
  enum work { sleeps, is_gone, works };
  struct member {
    together* all;
    work what;
    void* blocks[each];
    std::atomic<bool> made{false}, freed{false};
    std::atomic<pid_t> id{0};
    pthread_t thread;
  };

  explicit together(std::uint32_t seed) : seed_(seed) {}

  static void set_timer(long us) {
    const itimerval every{{0, us}, {0, us}};
    ::setitimer(ITIMER_REAL, &every, nullptr);
  }
  static void interrupt(int) {
    interruptions_.fetch_add(1);
    std::free(probe::opaque(std::malloc(100)));
  }

  static void make(void*& p, probe::random& r) {
    const std::size_t n = r.below(20) == 0 ? 1 + r.below(200'000) : probe::min_stamped + r.below(600);
    p = probe::opaque(std::malloc(n));
    probe::expect(p != nullptr, "req 17: no %zu bytes", n);
    probe::stamp(p, n, std::uint32_t(r.next()));
  }
  static void drop(void*& p) {
    probe::expect_intact(p, "req 17");
    std::free(p);
    p = nullptr;
  }

  static void* work_on(void* self) {
    auto& m = *static_cast<member*>(self);
    probe::random r(m.all->seed_ + m.what);
    for (void*& p : m.blocks) make(p, r);
    m.id.store(pid_t(::syscall(SYS_gettid)));
    m.made.store(true);
    if (m.what == is_gone) ::syscall(SYS_exit, 0);
    while (!m.freed.load()) {
      if (m.what == sleeps) {
        ::usleep(1000);
      } else {
        void* p;
        make(p, r);
        drop(p);
      }
    }
    return nullptr;
  }

  void begin() {
    for (int i = 0; i != crew; ++i) {
      members_[i].all = this;
      members_[i].what = work(i);
      probe::expect(::pthread_create(&members_[i].thread, nullptr, work_on, &members_[i]) == 0, "no thread");
    }
    for (member& m : members_)
      while (!m.made.load()) ::usleep(100);
  }
  void free_theirs() {
    for (member& m : members_)
      for (int i = 0; i != each; i += 2) drop(m.blocks[i]);
  }
  // The child frees what is left of everybody's, and has memory of its own.
  void fork() {
    const pid_t child = ::fork();
    probe::expect(child >= 0, "no child");
    if (child == 0) {
      for (member& m : members_)
        for (int i = 1; i < each; i += 2) drop(m.blocks[i]);
      probe::random r(seed_ + crew);
      for (void*& p : members_[0].blocks) make(p, r);
      for (void*& p : members_[0].blocks) drop(p);
      ::malloc_trim(0);
      ::_exit(0);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) != child) {
    }
    probe::expect(status == 0, "req 17: the child ended with status %#x", unsigned(status));
  }
  void end() {
    for (member& m : members_) {
      for (int i = 1; i < each; i += 2) drop(m.blocks[i]);
      m.freed.store(true);
      if (m.what != is_gone) ::pthread_join(m.thread, nullptr);
    }
  }

  static inline std::atomic<int> interruptions_{0};
  std::uint32_t seed_;
  member members_[crew];
};

}  // namespace polder::faults
