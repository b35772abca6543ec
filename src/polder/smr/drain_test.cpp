// Drains: what each frees, and when; that adaptive keeps pace as its proof says.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include <polder/base/sanitizers.hpp>
#include <polder/smr/all.hpp>
#include <polder/smr/drain.hpp>
#include <polder/smr/free_watch.hpp>
#include <thread>

namespace {

using namespace polder;
using namespace polder::smr;

struct object {
  std::uint64_t filling[4] = {};
};
struct huge {
  std::size_t weight() const { return 1 << 20; }
};

using domain = debra::domain;
using guard = debra::guard<1>;

domain::options with(drain_policy drain) {
  domain::options o{.drain = drain};
  o.scheme.operations_a_check = o.scheme.operations_an_epoch =
      1;  // so that a single thread's epoch moves with each guard
  return o;
}

drain_policy by_name(std::string_view name) {
  return std::find_if(std::begin(all_drains), std::end(all_drains), [&](const auto& d) { return d.name == name; })
      ->policy;
}

void retire(domain& d, int n) {
  guard g(d);
  for (; n > 0; --n) g.retire(g.make<object>());
}

TEST(drains, have_names_and_summaries) {
  for (const named_drain& d : all_drains) {
    EXPECT_FALSE(d.name.empty());
    EXPECT_FALSE(d.summary.empty());
  }
}

TEST(drains, at_once_frees_a_batch_in_one_operation) {
  domain d(with(by_name("at_once")));
  retire(d, 1000);
  std::uint64_t before = d.statistics().reclaimed;
  EXPECT_EQ(before, 0u);
  for (int n = 0; n != 10 && d.statistics().reclaimed == before; ++n) retire(d, 0);
  EXPECT_EQ(d.statistics().reclaimed, 1000u);
  d.drain();
}

TEST(drains, amortized_frees_as_many_an_operation_as_it_is_told) {
  for (const unsigned each : {1u, 3u}) {
    domain d(with({.how = drain_policy::way::amortized, .an_operation = each}));
    retire(d, 900);
    while (d.statistics().reclaimed == 0) retire(d, 0);
    for (std::uint64_t before = d.statistics().reclaimed; before < 900; before += each) {
      EXPECT_EQ(d.statistics().reclaimed, before);
      retire(d, 0);
    }
    EXPECT_EQ(d.statistics().reclaimed, 900u);
    d.drain();
  }
}

TEST(drains, catch_up_frees_a_burst_above_its_limit) {
  domain d(with({.how = drain_policy::way::catch_up, .catch_up_above = 100}));
  retire(d, 1000);
  while (d.statistics().reclaimed == 0) retire(d, 0);
  EXPECT_GE(d.statistics().reclaimed, 950u);
  EXPECT_LT(d.statistics().reclaimed, 960u);
  d.drain();
}

TEST(drains, size_aware_frees_the_large_at_once) {
  domain d(with(by_name("size_aware")));
  {
    guard g(d);
    for (int n = 0; n != 100; ++n) g.retire(g.make<object>());
    for (int n = 0; n != 100; ++n) g.retire(g.make<huge>());
  }
  while (d.statistics().reclaimed == 0) retire(d, 0);
  EXPECT_GE(d.statistics().reclaimed_bytes, std::uint64_t{100} << 20);
  EXPECT_LT(d.statistics().reclaimed, 110u);
  d.drain();
}

TEST(drains, pooled_memory_is_what_is_made_next) {
  domain d(with(by_name("pooled")));
  const void* was;
  {
    guard g(d);
    object* const o = g.make<object>();
    was = o;
    g.retire(o);
  }
  while (d.statistics().reclaimed == 0) retire(d, 0);
  guard g(d);
  object* const again = g.make<object>();
  EXPECT_EQ(again, was);
  g.unmake(again);
}

// Whatever the drain, each object's call is seen once, and ended by who began it. Pooled objects are freed by drain()
// alone.
TEST(drains, each_call_that_frees_is_seen) {
  struct counting final : free_watch {
    std::uint64_t before() noexcept override { return open.fetch_add(1, order::relaxed) + 1; }
    void after(std::uint64_t before, std::size_t objects) noexcept override {
      EXPECT_EQ(before, open.load(order::relaxed));
      seen.fetch_add(objects, order::relaxed);
    }
    atomic<std::uint64_t> open, seen;
  };
  for (const named_drain& drain : all_drains) {
    counting watch;
    auto o = with(drain.policy);
    o.watch = &watch;
    domain d(o);
    for (int i = 0; i != 20; ++i) retire(d, 10);
    const std::uint64_t pooled = drain.name == "pooled" ? d.statistics().reclaimed : 0;
    d.drain();
    EXPECT_EQ(d.statistics().reclaimed, 200u);
    EXPECT_EQ(watch.seen.load(order::relaxed), 200 - pooled) << drain.name;
    EXPECT_EQ(drain.name == "pooled", pooled != 0) << drain.name;
  }
}

TEST(drains, adaptive_keeps_pace) {
  for (std::uint64_t seed = 1; seed != 40; ++seed) {
    domain d(with(by_name("adaptive")));
    std::uint64_t state = seed, most = 0, here = 0, epoch = 0;
    const auto random = [&state] {
      return state = state * 6364136223846793005u + 1442695040888963407u, state >> 33;
    };
    const std::uint64_t calm = 1 + random() % 30;  // bursts between pauses
    for (int n = 0; n != 3000; ++n) {
      const int burst = random() % calm == 0 ? int(random() % 200) : int(random() % 2);
      {
        guard g(d);
        if (const std::uint64_t now = d.scheme().now(); now != epoch) epoch = now, here = 0;
        for (int b = 0; b != burst; ++b) g.retire(g.make<object>());
      }
      here += burst;
      most = std::max(most, here);
      ASSERT_LE(d.statistics().unreclaimed(), 3 * most + 2) << "seed " << seed << ", operation " << n;
    }
    d.drain();
  }
}

// An object whose destructor retires another: what is freed for the one that is retired is not freed inside the other's
// destructor, and is freed for all that.
TEST(drains, adaptive_keeps_pace_with_destructors_that_retire_and_does_not_nest_them) {
  static domain* home;
  static int open, deepest, gone;
  open = deepest = gone = 0;
  struct retiring {
    ~retiring() {
      deepest = std::max(deepest, ++open);
      retire(*home, 1);
      --open, ++gone;
    }
  };
  domain d(with(by_name("adaptive")));
  home = &d;
  constexpr int many = 2000;
  {
    guard g(d);
    for (int n = 0; n != many; ++n) g.retire(g.make<retiring>());
  }
  while (gone == 0) retire(d, 1);
  EXPECT_EQ(deepest, 1);
  EXPECT_EQ(gone, many);  // each of them had two more freed
  d.drain();
}

// The memory of an object that is retired through a base with a virtual destructor lies elsewhere than the base.
TEST(drains, free_what_is_retired_through_its_second_base) {
  struct first {
    long filling = 0;
    virtual ~first() = default;
  };
  struct second {
    long filling = 0;
    virtual ~second() = default;
  };
  static int gone;
  gone = 0;
  struct both : first, second {
    ~both() override { ++gone; }
  };
  struct last final : second {};
  EXPECT_FALSE(made_kind<second>.heap_block);
  EXPECT_TRUE(made_kind<last>.heap_block);
  for (const named_drain& way : all_drains) {
    domain d(with(way.policy));
    for (int n = 0; n != 10; ++n) {
      guard g(d);
      g.retire(static_cast<second*>(new both));
    }
    d.drain();
    EXPECT_EQ(std::exchange(gone, 0), 10) << way.name;
  }
}

// A type that says how its memory goes back, without saying where it comes from.
TEST(drains, give_memory_back_as_its_type_says) {
  static int deleted;
  struct deletes {
    long words[4] = {};
    static void operator delete(void* p) { ++deleted, ::operator delete(p); }
  };
  struct deletes_with_size {
    long words[4] = {};
    static void operator delete(void* p, std::size_t) { ++deleted, ::operator delete(p); }
  };
  struct deletes_all {
    long words[4] = {};
    static void operator delete(deletes_all* p, std::destroying_delete_t) {
      ++deleted, p->~deletes_all(), ::operator delete(p);
    }
  };
  const auto each_is_deleted = [](auto type, const named_drain& way) {
    using kept = decltype(type);
    deleted = 0;
    domain d(with(way.policy));
    for (int n = 0; n != 100; ++n) {
      guard g(d);
      g.retire(::new kept);
    }
    for (int n = 0; n != 10; ++n) retire(d, 0);
    d.drain();
    EXPECT_EQ(deleted, 100) << way.name;
  };
  for (const named_drain& way : all_drains) {
    each_is_deleted(deletes{}, way);
    each_is_deleted(deletes_with_size{}, way);
    each_is_deleted(deletes_all{}, way);
  }
}

// Nodes whose destructors retire the next: what the domain's own thread retires so is in no seat when a drain comes to it.
struct successor {
  static inline std::atomic<int> made, gone;
  domain& of;
  const int left;
  successor(domain& d, int n) : of(d), left(n) { ++made; }
  ~successor() {
    if (left != 0) retire_one(of, left - 1);
    ++gone;
  }
  static void retire_one(domain& d, int n) {
    guard g(d);
    g.retire(new successor(d, n));
  }
  // Twenty, each with a hundred behind it, and some are handed over already.
  static void retire_many(domain& d) {
    made = gone = 0;
    for (int m = 0; m != 20; ++m) retire_one(d, 100);
    for (int m = 0; m != 10; ++m) retire(d, 0);
  }
  static void expect_all_gone() {
    EXPECT_EQ(made, 20 * 101);
    EXPECT_EQ(gone, made);
  }
};

TEST(drains, in_the_background_are_over_when_all_that_deleters_retired_is_freed) {
  for (int n = 0; n != 50 && !HasFailure(); ++n) {
    domain d(with(by_name("background")));
    successor::retire_many(d);
    d.drain();
    EXPECT_EQ(d.statistics().unreclaimed(), 0u);
    successor::expect_all_gone();
  }
}

#if POLDER_CHECK_LEVEL == 0  // where it is a mistake
TEST(drains, in_the_background_end_with_their_domain_and_leave_nothing) {
  for (int n = 0; n != 50 && !HasFailure(); ++n) {
    {
      domain d(with(by_name("background")));
      successor::retire_many(d);
    }
    successor::expect_all_gone();
  }
}
#endif

// A handler of the program's runs on threads of the program's.
TEST(drains, in_the_background_take_no_signal_of_others) {
  static sigset_t there;
  static pthread_t who;
  struct looks {
    ~looks() { who = pthread_self(), pthread_sigmask(SIG_BLOCK, nullptr, &there); }
  };
  who = pthread_self();
  sigset_t before, after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  {
    domain d(with(by_name("background")));
    {
      guard g(d);
      g.retire(new looks);
    }
    for (int n = 0; n != 10; ++n) retire(d, 0);
    d.drain();
  }
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  ASSERT_FALSE(pthread_equal(who, pthread_self()));
  for (const int s : {SIGTERM, SIGUSR1, SIGALRM, SIGRTMAX}) {
    EXPECT_TRUE(sigismember(&there, s)) << s;
    EXPECT_EQ(sigismember(&before, s), sigismember(&after, s)) << s;
  }
  EXPECT_FALSE(sigismember(&there, SIGSEGV));
}

#ifdef GTEST_HAS_DEATH_TEST
TEST(drains, in_the_background_refuse_a_drain_in_one_of_their_deleters) {
  static domain* of;
  struct drains {
    ~drains() { of->drain(); }
  };
  EXPECT_DEATH(
      {
        domain d(with(by_name("background")));
        of = &d;
        alarm(20);
        {
          guard g(d);
          g.retire(g.make<drains>());
        }
        for (;;) retire(d, 0);
      },
      "drain\\(\\) in a deleter that the domain's own thread runs would wait for itself");
}
#endif

#if !POLDER_SANITIZED  // whose allocator may be locked in the child by the thread that is not there
// The thread that frees is gone in the child, whether the thread that is left has used the domain or not. Its first deleter
// is still at work when the fork comes, so that others wait behind it; none of them runs where a guard is opened.
TEST(drains, in_the_background_go_on_in_the_child_of_any_thread) {
  static std::atomic<bool> let_go, freeing;
  static std::atomic<int> gone, here;
  static thread_local bool opens_a_guard;
  struct slow {
    ~slow() {
      freeing = true;
      while (!let_go) std::this_thread::yield();
      here += opens_a_guard;
      ++gone;
    }
  };
  constexpr int some = 100;
  for (const bool has_a_seat : {false, true}) {
    let_go = freeing = false, gone = here = 0;
    domain d(with(by_name("background")));
    std::thread([&] {
      for (int n = 0; n != some; ++n) {
        guard g(d);
        g.retire(g.make<slow>());
      }
      while (!freeing) retire(d, 1);
      for (int n = 0; n != 100; ++n) retire(d, 0);  // all that is safe is handed over
    }).join();
    std::thread([&] {
      if (has_a_seat) retire(d, 0);
      const std::uint64_t retired = d.statistics().retired;
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        let_go = opens_a_guard = true;
        for (int n = 0; n != 100; ++n) retire(d, 0);
        opens_a_guard = false;
        retire(d, some);
        d.drain();
        // The object that was being freed is lost.
        const bool all = gone == some - 1 && d.statistics().reclaimed == retired + some;
        _exit(all && here == 0 ? 0 : 1);
      }
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << ", has a seat: " << has_a_seat;
    }).join();
    let_go = true;
    d.drain();
    EXPECT_EQ(gone, some);
  }
}
#endif

}  // namespace
