// Restartable schemes: what they do to a reader that stalls, and what they leave alone.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/smr/neutral/debra_plus.hpp>
#include <polder/smr/neutral/nbr.hpp>
#include <polder/smr/neutral/neutraliser.hpp>
#include <polder/smr/neutral/read_phase.hpp>
#include <polder/smr/neutral/rounds.hpp>

namespace {

using polder::atomic;
using polder::order;
using namespace polder::smr;

static_assert(restartable_reclaimer<nbr> && restartable_reclaimer<debra_plus>);

// Poisoned when it is freed; another one in the same place has another serial.
template <class R>
struct node : R::header {
  static constexpr long whole = 0x5a5a5a5a;
  static inline atomic<long> serials{0};
  volatile long value = whole;
  volatile long serial = serials.fetch_add(1, order::relaxed);
  ~node() {
    value = 0;
    serial = -1;
  }
};

void wait_for(const atomic<bool>& b) {
  while (!b.load(order::acquire)) sched_yield();
}

template <class R>
void retire_some(typename R::domain& d, int n) {
  for (; n != 0; --n) {
    typename R::template guard<1> g(d);
    g.retire(g.template make<node<R>>());
  }
}

constexpr delivery deliveries[] = {delivery::acknowledged, delivery::by_the_kernel};

// A thread that stays in a read phase until it is let go: the first member of its domain.
template <class R>
struct stalled_reader {
  typename R::domain& d;
  atomic<node<R>*>& shared;
  atomic<long> begun{0}, broken{0};
  atomic<bool> there{false}, over{false};
  std::thread thread;

  stalled_reader(typename R::domain& of, atomic<node<R>*>& word) : d(of), shared(word) {
    thread = std::thread([this] { stall(); });
    wait_for(there);
  }
  ~stalled_reader() { go(); }
  void go() {
    over.store(true, order::release);
    if (thread.joinable()) thread.join();
  }
  void stall() {
    typename R::template guard<1> g(d);
    node<R>* const found = g.read([this](auto& r) {
      begun.fetch_add(1, order::relaxed);
      for (;;) {
        node<R>* const seen = r.protect(0, shared);
        if (seen->value != node<R>::whole) broken.fetch_add(1, order::relaxed);
        r.reserve(0, seen);
        there.store(true, order::release);
        if (over.load(order::acquire)) return seen;
      }
    });
    if (found->value != node<R>::whole) broken.fetch_add(1, order::relaxed);
  }
};

TEST(read_phase, is_asked_for_by_its_number) {
  read_phase p;
  EXPECT_EQ(p.current(), 0u);
  p.begin();  // outside → phase 1
  EXPECT_EQ(p.current(), 1u);
  EXPECT_FALSE(p.asked());
  EXPECT_TRUE(p.over());
  EXPECT_TRUE(p.ask(1));
  EXPECT_FALSE(p.ask(1));  // one signal is enough
  EXPECT_TRUE(p.asked());
  EXPECT_FALSE(p.over());
  p.again();  // phase 1 → phase 3
  EXPECT_TRUE(p.over());
  EXPECT_FALSE(p.asked());  // what was asked of an earlier phase is nothing to a later one
  p.end();                  // phase 3 → outside
  EXPECT_EQ(p.current(), 0u);
  EXPECT_FALSE(p.asked());
  p.begin();
  p.vacate();
  EXPECT_EQ(p.current(), 0u);
}

TEST(rounds, serve_who_marked_before_they_began) {
  rounds r;
  const rounds::number early = r.mark();
  const rounds::number one = r.begin();
  const rounds::number late = r.mark();
  EXPECT_FALSE(r.since(early));
  const rounds::number two = r.begin();
  r.end(two);
  EXPECT_TRUE(r.since(early));
  EXPECT_TRUE(r.since(late));
  r.end(one);  // the later one is over already
  EXPECT_TRUE(r.since(late));
  EXPECT_FALSE(r.since(r.mark()));
}

TEST(nbr, keeps_its_bound_under_a_reader_that_stalls_in_a_phase) {
#if POLDER_SANITIZED
  constexpr int many = 20'000;
#else
  constexpr int many = 100'000;
#endif
  for (const delivery way : deliveries) {
    nbr::domain d({.scheme = {.delivered = way}});
    atomic<node<nbr>*> shared{new node<nbr>};
    stalled_reader<nbr> reader(d, shared);
    std::uint64_t most = 0;
    for (int n = 0; n != many; ++n) {
      nbr::guard<1> g(d);
      g.retire(shared.exchange(g.make<node<nbr>>(), order::acq_rel));
      if (n % 61 == 0) most = std::max(most, d.statistics().unreclaimed());
    }
    EXPECT_EQ(d.scheme().slots(), 2u * 8);
    EXPECT_LE(most, 2u * 8 + 1024);
    reader.go();
    EXPECT_GT(reader.begun.load(order::relaxed), 1);
    EXPECT_EQ(reader.broken.load(order::relaxed), 0);
    d.drain();
    delete shared.load(order::relaxed);
  }
}

TEST(nbr, a_round_serves_who_is_half_full) {
  nbr::domain d;
  atomic<bool> half{false}, round{false};
  std::thread a([&] {
    retire_some<nbr>(d, 600);
    half.store(true, order::release);
    wait_for(round);
    retire_some<nbr>(d, 1);
  });
  wait_for(half);
  EXPECT_EQ(d.statistics().reclaimed, 0u);
  retire_some<nbr>(d, 1030);
  EXPECT_EQ(d.statistics().reclaimed, 1024u);
  round.store(true, order::release);
  a.join();
  EXPECT_EQ(d.statistics().reclaimed, 1024u + 512);  // those that were there when it marked
  EXPECT_EQ(d.scheme().rounds_begun(), 1u);
  EXPECT_EQ(d.scheme().rounds_shared(), 1u);
  d.drain();
}

// Beside a reader that has to be let run some times for it.
template <class F>
void retire_until_many_came_back(debra_plus::domain& d, F retire_one) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (int n = 0; d.statistics().reclaimed < 20'000; ++n) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "the reader holds up the epoch";
    retire_one();
    if (n % 128 == 0) sched_yield();
    if (n > 1'000'000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(debra_plus, goes_on_past_a_reader_that_stalls_in_a_phase) {
  debra_plus::domain d;
  atomic<node<debra_plus>*> shared{new node<debra_plus>};
  stalled_reader<debra_plus> reader(d, shared);
  ASSERT_NO_FATAL_FAILURE(retire_until_many_came_back(d, [&] {
    debra_plus::guard<1> g(d);
    g.retire(shared.exchange(g.make<node<debra_plus>>(), order::acq_rel));
  }));
  reader.go();
  EXPECT_GT(reader.begun.load(order::relaxed), 1);
  EXPECT_EQ(reader.broken.load(order::relaxed), 0);
  d.drain();
  delete shared.load(order::relaxed);
}

// The kernel refuses a signal when too many wait. The reader is told when it does no more.
TEST(debra_plus, tells_a_reader_again_whom_it_was_not_let_tell) {
  if (neutraliser::polls) GTEST_SKIP() << "no signals are sent";
  debra_plus::domain d;
  atomic<node<debra_plus>*> shared{new node<debra_plus>};
  stalled_reader<debra_plus> reader(d, shared);
  const auto retire_one = [&] {
    debra_plus::guard<1> g(d);
    g.retire(shared.exchange(g.make<node<debra_plus>>(), order::acq_rel));
  };
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_SIGPENDING, &before), 0);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_SIGPENDING, &none), 0);
  const bool refuses = !neutraliser::send(pid_t(::gettid()));
  for (int n = 0; n != 10'000; ++n) retire_one();
  ASSERT_EQ(setrlimit(RLIMIT_SIGPENDING, &before), 0);
  ASSERT_NO_FATAL_FAILURE(retire_until_many_came_back(d, retire_one));
  EXPECT_GT(reader.begun.load(order::relaxed), 1);
  reader.go();
  EXPECT_EQ(reader.broken.load(order::relaxed), 0);
  d.drain();
  delete shared.load(order::relaxed);
  if (!refuses) GTEST_SKIP() << "this kernel queues as many signals as are sent";
}

// A thread that retires in an operation that was begun anew, epochs after it opened its guard.
TEST(debra_plus, retires_in_the_epoch_that_it_announced_anew) {
  debra_plus::domain d({.scheme = {{.operations_a_check = 1, .operations_an_epoch = 1}, 8}});
  atomic<bool> over{false};
  std::thread other([&] {
    while (!over.load(order::acquire)) retire_some<debra_plus>(d, 10), sched_yield();
  });
  atomic<long> begun{0};
  const atomic<node<debra_plus>*> none{nullptr};
  for (int n = 0; n != 3; ++n) {
    debra_plus::guard<1> g(d);
    for (int phase = 0; phase != 8; ++phase) {
      const long before = begun.load(order::relaxed);
      g.read([&](auto& r) {
        begun.fetch_add(1, order::relaxed);
        while (begun.load(order::relaxed) == before + 1) static_cast<void>(r.protect(0, none));
        return 0;
      });
      for (int i = 0; i != 3; ++i) g.retire(g.make<node<debra_plus>>());
    }
  }
  over.store(true, order::release);
  other.join();
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
}

template <class R>
class restartable : public testing::Test {};
using both = testing::Types<nbr, debra_plus>;
TYPED_TEST_SUITE(restartable, both);

template <class R>
typename R::domain::options always_at_it() {
  typename R::domain::options o;
  if constexpr (std::is_same_v<R, nbr>) o.scheme.retires_a_round = 4;
  else o.scheme.operations_a_check = o.scheme.operations_an_epoch = 1, o.scheme.suspect_above = 8;
  return o;
}

// Tells whoever is in a phase.
template <class Domain>
void rain(const Domain& d) {
  for (auto* m = d.members().first(); m != nullptr; m = m->next) {
    if (const read_phase::number w = m->seat.reads.phase.current(); w != 0 && m->seat.reads.phase.ask(w))
      m->seat.reads.tell();
  }
}

// Each of many signals begins the phase anew, and leaves the thread as it was: mask, stack, errno.
TYPED_TEST(restartable, begin_anew_as_often_as_they_are_told) {
  using R = TypeParam;
  typename R::domain d;
  atomic<node<R>*> shared{new node<R>};
  atomic<bool> over{false};
  atomic<long> begun{0};
  constexpr long times = 200;
  std::thread reader([&] {
    const auto alternate = std::make_unique<char[]>(std::size_t{1} << 16);
    stack_t stack = {};
    stack.ss_sp = alternate.get();
    stack.ss_size = std::size_t{1} << 16;
    ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
    sigset_t before, after;
    {
      typename R::template guard<1> g(d);
      g.read([](auto&) { return 0; });
      pthread_sigmask(SIG_SETMASK, nullptr, &before);
      errno = 77;
      g.read([&](auto& r) {
        begun.fetch_add(1, order::relaxed);
        while (!over.load(order::acquire)) static_cast<void>(r.protect(0, shared));
        return 0;
      });
      EXPECT_EQ(errno, 77);
    }
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int s = 1; s != SIGRTMAX + 1; ++s) EXPECT_EQ(sigismember(&before, s), sigismember(&after, s)) << s;
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
  });
  while (begun.load(order::relaxed) == 0) sched_yield();
  auto& phase = d.members().first()->seat.reads.phase;
  for (long n = 0; n != times; ++n) {
    const read_phase::number w = phase.current();
    ASSERT_NE(w, 0u);
    rain(d);
    while (!phase.over()) sched_yield();
    d.members().first()->seat.reads.tell();  // nobody asked: nothing happens
  }
  over.store(true, order::release);
  reader.join();
  EXPECT_EQ(begun.load(order::relaxed), times + 1);
  d.drain();
  delete shared.load(order::relaxed);
}

// What an outer guard keeps, an inner guard's phase leaves alone, whoever tells it what.
TYPED_TEST(restartable, nest) {
  using R = TypeParam;
  typename R::domain d(always_at_it<R>());
  atomic<node<R>*> shared{new node<R>}, other{new node<R>};
  atomic<bool> inside{false}, over{false};
  atomic<long> turns{0};
  std::thread reader([&] {
    typename R::template guard<2> outer(d);
    node<R>* const held = outer.read([&](auto& r) {
      node<R>* const p = r.protect(0, shared);
      r.reserve(1, p);
      return p;
    });
    const long serial = held->serial;
    {
      typename R::template guard<2> inner(d);
      inner.read([&](auto& r) {
        inside.store(true, order::release);
        while (!over.load(order::acquire))
          static_cast<void>(r.protect(0, other)), turns.fetch_add(1, order::relaxed);
        return 0;
      });
      inner.retire(inner.template make<node<R>>());
    }
    EXPECT_EQ(held->serial, serial);
  });
  wait_for(inside);
  {
    typename R::template guard<1> g(d);
    g.retire(shared.exchange(nullptr, order::acq_rel));
  }
  for (int n = 0; n != 50; ++n) {
    retire_some<R>(d, 1);
    rain(d);
    for (const long seen = turns.load(order::relaxed); turns.load(order::relaxed) < seen + 2;) sched_yield();
  }
  over.store(true, order::release);
  reader.join();
  delete other.load(order::relaxed);
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
}

// Threads that come while rounds go on, and end, or detach, in between.
TYPED_TEST(restartable, let_threads_come_and_go) {
  using R = TypeParam;
  typename R::domain d(always_at_it<R>());
  atomic<node<R>*> shared{new node<R>};
  atomic<long> broken{0};
  atomic<bool> over{false};
  std::thread telling([&] {
    while (!over.load(order::acquire)) rain(d), sched_yield();
  });
  for (int round = 0; round != 15; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t) {
      threads.emplace_back([&, t] {
        for (int n = 0; n != 40; ++n) {
          {
            typename R::template guard<1> g(d);
            node<R>* const p = g.read([&](auto& r) {
              node<R>* const seen = r.protect(0, shared);
              if (seen->value != node<R>::whole) broken.fetch_add(1, order::relaxed);
              r.reserve(0, seen);
              return seen;
            });
            g.retire(shared.exchange(g.template make<node<R>>(), order::acq_rel));
            if (p->value != node<R>::whole) broken.fetch_add(1, order::relaxed);
          }
          if (n % 16 == t) d.detach();
        }
      });
    }
    for (std::thread& t : threads) t.join();
  }
  over.store(true, order::release);
  telling.join();
  EXPECT_EQ(broken.load(order::relaxed), 0);
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
  delete shared.load(order::relaxed);
}

// A child forked while another thread is in a phase: that one is gone; threads that the child makes can be told.
TYPED_TEST(restartable, go_on_after_a_fork) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  using R = TypeParam;
  typename R::domain d(always_at_it<R>());
  atomic<node<R>*> shared{new node<R>};
  {
    typename R::template guard<1> g(d);
    g.read([](auto&) { return 0; });  // the thread's number is known
  }
  stalled_reader<R> reader(d, shared);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    retire_some<R>(d, 100);
    atomic<bool> there{false};
    atomic<long> begun{0};
    std::thread other([&] { retire_some<R>(d, 1), wait_for(there), retire_some<R>(d, 100), rain(d); });
    {
      typename R::template guard<1> g(d);
      g.read([&](auto& r) {
        there.store(true, order::release);
        begun.fetch_add(1, order::relaxed);
        while (begun.load(order::relaxed) == 1) static_cast<void>(r.protect(0, shared));
        return 0;
      });
    }
    other.join();
    d.drain();
    _exit(d.statistics().unreclaimed() == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  reader.go();
  d.drain();
  delete shared.load(order::relaxed);
}

// ---- signals

// Other machines than this one are tested under emulation (CONTRIBUTING.md).
#if defined(__x86_64__)
constexpr bool emulated = false;
#else
constexpr bool emulated = true;
#endif

// A handler that stays until it is told to go on: its thread is in the middle of a phase and does not run it.
struct held_in_a_handler {
  static inline atomic<bool> there{false}, go{false};
  static void handle(int) {
    there.store(true, order::release);
    while (!go.load(order::acquire)) sched_yield();
  }
  held_in_a_handler() {
    there.store(false, order::relaxed);
    go.store(false, order::relaxed);
    struct sigaction hold = {};
    hold.sa_handler = handle;
    sigfillset(&hold.sa_mask);
    sigaction(SIGUSR1, &hold, &before);
  }
  ~held_in_a_handler() { sigaction(SIGUSR1, &before, nullptr); }
  struct sigaction before;
};

// It holds a pointer, and reads through it when it goes on, unless it begins anew first.
TEST(neutralised, a_thread_that_does_not_run_reads_nothing_that_was_freed) {
  if (neutraliser::polls) GTEST_SKIP() << "readers ask themselves: no signal reaches one that does not run";
  for (const delivery way : deliveries) {
    nbr::domain d({.scheme = {.retires_a_round = 4, .delivered = way}});
    atomic<node<nbr>*> shared{new node<nbr>};
    atomic<bool> stalled{false}, over{false};
    atomic<long> begun{0}, broken{0};
    const held_in_a_handler holding;
    std::thread reader([&] {
      nbr::guard<1> g(d);
      g.read([&](auto& r) {
        begun.fetch_add(1, order::relaxed);
        node<nbr>* const p = r.protect(0, shared);
        stalled.store(true, order::release);
        do {
          if (p->value != node<nbr>::whole) broken.fetch_add(1, order::relaxed);
        } while (!over.load(order::acquire));
        return 0;
      });
    });
    wait_for(stalled);
    pthread_kill(reader.native_handle(), SIGUSR1);
    wait_for(held_in_a_handler::there);
    static atomic<bool> freed, freed_in_time;
    freed.store(false, order::relaxed);
    std::thread retirer([&] {
      nbr::guard<1> g(d);
      g.retire(shared.exchange(g.make<node<nbr>>(), order::acq_rel), [](node<nbr>* n) {
        freed_in_time.store(held_in_a_handler::go.load(order::relaxed), order::relaxed);
        delete n;
        freed.store(true, order::release);
      });
      for (int n = 0; n != 4; ++n) g.retire(g.make<node<nbr>>());
    });
    if (!d.scheme().waits()) {
      retirer.join();
      EXPECT_TRUE(freed.load(order::acquire));  // nobody was waited for
    } else {
      for (int n = 0; n != 200; ++n) sched_yield();
    }
    held_in_a_handler::go.store(true, order::release);
    wait_for(freed);
    while (begun.load(order::relaxed) == 1) sched_yield();
    over.store(true, order::release);
    reader.join();
    if (d.scheme().waits()) {
      retirer.join();
      EXPECT_TRUE(freed_in_time.load(order::relaxed));  // the reader was
    }
    EXPECT_EQ(begun.load(order::relaxed), 2);
    EXPECT_EQ(broken.load(order::relaxed), 0);
    d.drain();
    delete shared.load(order::relaxed);
  }
}

// What delivery::by_the_kernel rests on: once membarrier has returned, a thread that was sent a signal before takes no step
// that is not its handler's.
TEST(neutralised, a_signal_has_arrived_when_all_processors_were_interrupted) {
  nbr::domain d;
  if (neutraliser::polls || !d.scheme().fences.asymmetric()) GTEST_SKIP() << "no signal, or no membarrier";
  if (emulated) GTEST_SKIP() << "an emulator keeps signals back until it sees fit";
  atomic<long> steps{0}, begun{0}, steps_at_begin{0};
  atomic<bool> over{false};
  std::thread reader([&] {
    nbr::guard<1> g(d);
    g.read([&](auto&) {
      steps_at_begin.store(steps.load(order::relaxed), order::relaxed);
      begun.fetch_add(1, order::release);
      while (!over.load(order::relaxed)) steps.store(steps.load(order::relaxed) + 1, order::relaxed);
      return 0;
    });
  });
  while (begun.load(order::acquire) == 0) sched_yield();
  read_phase& phase = d.members().first()->seat.reads.phase;
  long late = 0;
  for (long n = 1; n <= 2000; ++n) {
    const read_phase::number w = phase.current();
    phase.ask(w);
    d.members().first()->seat.reads.tell();
    ASSERT_TRUE(d.scheme().fences.heavy());
    const long seen = steps.load(order::relaxed);
    while (begun.load(order::acquire) == n) sched_yield();
    late += steps_at_begin.load(order::relaxed) > seen;
  }
  over.store(true, order::relaxed);
  reader.join();
  EXPECT_EQ(late, 0);
}

TEST(neutralised, a_thread_that_never_read_is_left_alone) {
  if (neutraliser::polls) GTEST_SKIP() << "no signal is used";
  nbr::domain d;
  atomic<pid_t> number{0};
  atomic<bool> over{false};
  std::thread other([&] {
    number.store(gettid(), order::release);
    wait_for(over);
  });
  while (number.load(order::acquire) == 0) sched_yield();
  for (int n = 0; n != 100; ++n) EXPECT_TRUE(neutraliser::send(number.load(order::relaxed)));
  over.store(true, order::release);
  other.join();
}

// All of them come before the thread takes a step: none may lead it deeper into its stack than the one before.
TEST(neutralised, a_phase_is_left_by_any_number_of_signals_on_a_small_stack) {
  if (neutraliser::polls) GTEST_SKIP() << "no signal is used";
  nbr::domain d;
  const auto read = [](void* domain) -> void* {
    auto& of = *static_cast<nbr::domain*>(domain);
    nbr::guard<1> g(of);
    atomic<long> begun{0};  // by the thread itself alone
    g.read([&](auto&) {
      if (begun.load(order::relaxed) == 0) {
        begun.store(1, order::relaxed);
        sigset_t ours;
        sigemptyset(&ours);
        sigaddset(&ours, neutraliser::signal());
        pthread_sigmask(SIG_BLOCK, &ours, nullptr);
        read_phase& phase = of.members().first()->seat.reads.phase;
        phase.ask(phase.current());
        for (int n = 0; n != 5000; ++n) of.members().first()->seat.reads.tell();
        pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
        begun.store(2, order::relaxed);  // never: the signals were there
      }
      return 0;
    });
    return reinterpret_cast<void*>(begun.load(order::relaxed));
  };
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{256} << 10);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &small, read, &d), 0);
  void* begun = nullptr;
  pthread_join(thread, &begun);
  pthread_attr_destroy(&small);
  EXPECT_EQ(begun, reinterpret_cast<void*>(1));
}

// Where every real-time signal has a handler the highest is shared with it.
int told = 0;  // of the test below
TEST(neutralised, a_handler_that_was_there_goes_on) {
  if (neutraliser::polls) GTEST_SKIP() << "no signal is used";
  if (emulated) GTEST_SKIP() << "an emulated process cannot start itself anew";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, in which no domain was made yet
  EXPECT_EXIT(
      {
        struct sigaction theirs = {};
        theirs.sa_sigaction = [](int, siginfo_t* why, void*) { told += why->si_code == SI_TKILL; };
        theirs.sa_flags = SA_SIGINFO;
        for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) sigaction(s, &theirs, nullptr);
        nbr::domain d;
        raise(neutraliser::signal());
        neutraliser::send(gettid());
        _exit(neutraliser::signal() == SIGRTMAX && told == 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

#if POLDER_CHECK_LEVEL > 0
TYPED_TEST(restartable, tell_what_a_phase_may_not_do) {
  using R = TypeParam;
  using guard = typename R::template guard<1>;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  typename R::domain d;
  guard g(d);
  EXPECT_DEATH(g.read([&](auto&) {
    guard inner(d);
    return 0;
  }),
               "a guard was opened inside a read phase");
  EXPECT_DEATH(g.read([&](auto&) {
    g.retire(g.template make<node<R>>());
    return 0;
  }),
               "make\\(\\) inside a read phase");
  EXPECT_DEATH(g.read([&](auto&) { return g.read([](auto&) { return 0; }); }), "a read phase inside a read phase");
  EXPECT_DEATH(g.read([&](auto& r) {
    r.reserve(1, nullptr);
    return 0;
  }),
               "there is no slot 1 in this guard");
}
#endif

}  // namespace
