// What a domain does now and then, under every scheme of the registry (sanitizers: one of each algorithm): a drain among
// threads that come, go and step meanwhile; a fork in the middle of it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <polder/base/sanitizers.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/processor_tour.hpp>
#include <polder/smr/all.hpp>
#include <polder/smr/schemes_test.hpp>
#include <polder/smr/steps_test.hpp>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using polder::atomic;
using polder::order;
using namespace polder::smr;

template <class R>
class domains : public testing::Test {
 public:
  using domain = typename R::domain;
  using guard = typename R::template guard<1>;

  struct filling : R::header {
    long words[4] = {};
  };
  struct told : R::header {
    atomic<int>& gone;
    explicit told(atomic<int>& g) : gone(g) {}
    ~told() { gone.fetch_add(1, order::release); }
  };

  static void retire_some(domain& d, int n) {
    for (; n != 0; --n) {
      guard g(d);
      g.retire(g.template make<filling>());
    }
  }
};
TYPED_TEST_SUITE(domains, tests_of<tested>::types, names_of_schemes);

// Whatever a thread has counted towards its next look when it drains.
TYPED_TEST(domains, go_on_reclaiming_after_a_drain) {
  if (TypeParam::info.name == "leaky") GTEST_SKIP() << TypeParam::info.bound;
  for (int before = 0; before != 128; ++before) {
    typename TestFixture::domain d;
    for (int n = 0; n != before; ++n) typename TestFixture::guard g(d);
    d.drain();
    TestFixture::retire_some(d, 4000);
    ASSERT_LT(d.statistics().unreclaimed(), 2000u) << "after " << before << " guards and a drain";
    d.drain();
  }
}

// A thread finds its seat claimed and moves to another one: nobody waits for the seat that it has left.
TYPED_TEST(domains, go_on_reclaiming_after_a_move_to_another_seat) {
  if (TypeParam::info.name == "leaky") GTEST_SKIP() << TypeParam::info.bound;
  typename TestFixture::domain d;
  { typename TestFixture::guard g(d); }
  auto* const seat = d.members().find(thread_slot::mine());
  ASSERT_TRUE(seat->gate.try_claim());
  { typename TestFixture::guard g(d); }
  seat->gate.end();
  ASSERT_NE(d.members().find(thread_slot::mine()), seat);
  TestFixture::retire_some(d, 10'000);
  EXPECT_LT(d.statistics().unreclaimed(), 2000u);
  EXPECT_FALSE(d.longest_stall());
  d.drain();
}

// One retires and ends while a drain waits for the guard of a second; a third, whose seat the drain has seen to already,
// looks for what the dead have left.
TYPED_TEST(domains, drain_what_a_thread_left_meanwhile) {
  typename TestFixture::domain d;
  atomic<int> gone{0};
  steps first, second, third;
  std::thread ends([&] {
    {
      typename TestFixture::guard g(d);
      g.retire(g.template make<typename TestFixture::told>(gone));
    }
    first.reach(1);
    first.wait_for(2);
  });
  first.wait_for(1);
  const auto* waited_for = d.members().first();
  std::thread inside([&] {
    typename TestFixture::guard g(d);
    waited_for = d.members().first();
    second.reach(1);
    second.wait_for(2);
  });
  second.wait_for(1);
  std::thread adopts([&] {
    { typename TestFixture::guard g(d); }
    third.reach(1);
    third.wait_for(2);
    TestFixture::retire_some(d, 3000);
    third.reach(3);
    third.wait_for(4);
  });
  third.wait_for(1);
  int gone_after_drain = -1;
  std::thread drains([&] {
    d.drain();
    gone_after_drain = gone.load(order::acquire);
  });
  while (waited_for->gate.state() != seat_state::claimed) std::this_thread::yield();
  first.reach(2);
  ends.join();
  third.reach(2);
  third.wait_for(3);
  second.reach(2);
  inside.join();
  drains.join();
  EXPECT_EQ(gone_after_drain, 1);
  third.reach(4);
  adopts.join();
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
}

// A thread that found its seat claimed has two of its number, and sits in the younger or, if that was claimed too, in the
// older one. Its guard keeps in the child what it kept.
TYPED_TEST(domains, keep_the_guards_of_who_forks_with_two_seats) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  using told = typename TestFixture::told;
  for (const int moves : {1, 2}) {
    typename TestFixture::domain d;
    { typename TestFixture::guard g(d); }
    for (int n = 0; n != moves; ++n) {
      auto* const seat = d.members().find(thread_slot::mine());
      ASSERT_TRUE(seat->gate.try_claim());
      { typename TestFixture::guard g(d); }
      seat->gate.end();
      ASSERT_NE(d.members().find(thread_slot::mine()), seat);
    }
    atomic<int> gone{0};
    atomic<told*> shared{new told(gone)};
    {
      typename TestFixture::guard g(d);
      static_cast<void>(g.protect(0, shared));
      std::thread([&] {
        typename TestFixture::guard other(d);
        other.retire(shared.exchange(nullptr, order::acq_rel));
      }).join();
      const auto* const sits_in = d.members().find(thread_slot::mine());
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        const bool stays = d.members().find(thread_slot::mine()) == sits_in;
        std::thread([&] { TestFixture::retire_some(d, 5000); }).join();
        TestFixture::retire_some(d, 5000);
        _exit(gone.load(order::acquire) == 0 && stays ? 0 : 1);
      }
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << ", moved " << moves << " times";
    }
    d.drain();
    EXPECT_EQ(gone.load(order::acquire), 1);
  }
}

// A deleter forks while its thread drains, and the drain goes on in the child: no other thread moves bags until it is over.
TYPED_TEST(domains, go_on_with_a_drain_in_whose_deleter_the_thread_forked) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  static pid_t child;
  static bool alone;
  static atomic<int> gone;
  static typename TestFixture::domain* domain;
  struct forks : TypeParam::header {
    ~forks() {
      child = fork();
      if (child != 0) return;
      alarm(20);
      std::thread([] {
        { typename TestFixture::guard g(*domain); }
        std::thread([] {
          typename TestFixture::guard g(*domain);
          g.retire(g.template make<typename TestFixture::told>(gone));
        }).join();
        TestFixture::retire_some(*domain, 5000);
      }).join();
      alone = gone.load(order::acquire) == 0;
    }
  };
  typename TestFixture::domain d;
  domain = &d, gone.store(0, order::relaxed);
  {
    typename TestFixture::guard g(d);
    g.retire(g.template make<forks>());
  }
  d.drain();
  if (child == 0) {
    d.drain();
    _exit(alone && gone.load(order::acquire) == 1 && d.statistics().unreclaimed() == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// The same before it has come to all seats: the one that it is at belongs to a thread that is gone, and its number to another.
TEST(drains_of_who_forks, keep_the_seat_that_they_are_at) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  using d_of = domains<ebr>;
  static pid_t child;
  static d_of::domain* domain;
  static std::thread next;
  static steps at;
  static bool draining;
  struct forks : ebr::header {
    ~forks() {
      if (!std::exchange(draining, false)) return;
      child = fork();
      if (child != 0) return;
      alarm(20);
      new (&next) std::thread([] {
        { d_of::guard g(*domain); }
        at.reach(2);
        at.wait_for(3);
        d_of::retire_some(*domain, 10);
        at.reach(4);
      });
      at.wait_for(2);
    }
  };
  ebr::domain::options one_by_one{.drain = {.how = drain_policy::way::amortized}};
  one_by_one.scheme.operations_a_check = one_by_one.scheme.operations_an_epoch = 1;
  d_of::domain d(one_by_one);
  domain = &d;
  {
    d_of::guard g(d);
    for (int n = 0; n != 100; ++n) g.retire(g.make<forks>());
  }
  while (d.statistics().reclaimed == 0) d_of::guard g(d);
  steps there;
  std::thread other([&] {
    d_of::retire_some(d, 1);
    there.reach(1);
    there.wait_for(2);
  });
  there.wait_for(1);
  draining = true;
  d.drain();
  if (child == 0) {
    at.reach(3);
    at.wait_for(4);
    next.join();
    d.drain();
    _exit(d.statistics().unreclaimed() == 0 ? 0 : 1);
  }
  there.reach(2);
  other.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// Who is told that its bound was passed may throw, out of a guard's constructor and never out of retire(): no guard is open
// then, and the thread looks on afterwards.
TYPED_TEST(domains, go_on_when_who_is_told_of_the_bound_throws) {
  static int told, retired;
  static bool throws;
  throws = true;
  told = retired = 0;
  using options = typename TestFixture::domain::options;
  options chosen{.drain = {.how = drain_policy::way::amortized, .an_operation = 0}};  // a drain that frees nothing
  chosen.bound = {.bytes = 1024, .passed = [](void*, const garbage&) {
                    if (throws && ++told % 2 != 0) throw told;
                  }};
  typename TestFixture::domain d(chosen);
  int caught = 0;
  for (int n = 0; n != 8000; ++n) {
    try {
      typename TestFixture::guard g(d);
      ++retired;
      const int told_before = told;
      g.retire(g.template make<typename TestFixture::filling>());
      ASSERT_EQ(told, told_before);
    } catch (int) {
      ++caught;
    }
    ASSERT_FALSE(d.members().first()->is_inside());
    ASSERT_FALSE(d.members().first()->stepping);
  }
  EXPECT_GT(told, 2);
  EXPECT_EQ(caught, (told + 1) / 2);
  EXPECT_EQ(d.statistics().retired, std::uint64_t(retired));
  if (TypeParam::info.name != "leaky") {
    EXPECT_LT(d.statistics().unreclaimed(), 2000u);
  }
  throws = false;
  d.drain();
}

// A guard that retires more than the bound calls nobody. That is made good when the next one opens inside no other: its
// thread's, drain()'s, or that of the thread which has the seat next.
TYPED_TEST(domains, call_with_the_next_guard_who_was_not_called_by_retire) {
  if (TypeParam::info.protects == protection::region) GTEST_SKIP() << "it comes to its bound with guards alone";
  static atomic<int> told;
  told.store(0, order::relaxed);
  typename TestFixture::domain::options chosen{.drain = {.how = drain_policy::way::amortized, .an_operation = 0}};
  chosen.bound = {.bytes = 1024,
                  .passed = [](void*, const garbage&) { throw told.fetch_add(1, order::relaxed) + 1; }};
  typename TestFixture::domain d(chosen);
  const auto passes_it = [&] {
    typename TestFixture::guard g(d);
    for (int n = 0; n != 4000; ++n) g.retire(g.template make<typename TestFixture::filling>());
    typename TestFixture::guard inner(d);
  };
  const auto throws_once = [&](int nth, auto&& f) {
    EXPECT_EQ(told.load(order::relaxed), nth - 1);
    try {
      f();
      ADD_FAILURE() << "nobody was called";
    } catch (int n) {
      EXPECT_EQ(n, nth);
    }
    f();
    EXPECT_EQ(told.load(order::relaxed), nth);
  };
  passes_it();
  throws_once(1, [&] { typename TestFixture::guard g(d); });
  passes_it();
  throws_once(2, [&] { d.drain(); });
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
  const typename TestFixture::domain::member* seat = nullptr;
  const auto mine = [&] { return d.members().find(thread_slot::mine()); };
  std::thread([&] { passes_it(), seat = mine(); }).join();
  std::thread([&] {
    throws_once(3, [&] { typename TestFixture::guard g(d); });
    EXPECT_EQ(mine(), seat);
  }).join();
  d.drain();
}

// A thread that finds its seat claimed moves to another one of its number, in which the thread before it owed the call.
TYPED_TEST(domains, call_from_another_seat_who_was_not_called_there) {
  if (TypeParam::info.protects == protection::region) GTEST_SKIP() << "it comes to its bound with guards alone";
  using guard = typename TestFixture::guard;
  static int told;
  told = 0;
  typename TestFixture::domain::options chosen{.drain = {.how = drain_policy::way::amortized, .an_operation = 0}};
  chosen.bound = {.bytes = 1024, .passed = [](void*, const garbage&) { throw ++told; }};
  typename TestFixture::domain d(chosen);
  const auto mine = [&] { return d.members().find(thread_slot::mine()); };
  const auto move = [&] {
    auto* const seat = mine();
    ASSERT_TRUE(seat->gate.try_claim());
    { guard g(d); }
    seat->gate.end();
    ASSERT_NE(mine(), seat);
  };
  const typename TestFixture::domain::member* older = nullptr;
  std::thread([&] {
    { guard g(d); }
    older = mine();
    move();
    move();  // so that the newer one is free, which is found first
    ASSERT_EQ(mine(), older);
    guard g(d);
    for (int n = 0; n != 4000; ++n) g.retire(g.template make<typename TestFixture::filling>());
  }).join();
  ASSERT_EQ(told, 0);
  std::thread([&] {
    { guard g(d); }
    auto* const newer = mine();
    ASSERT_NE(newer, older);
    ASSERT_TRUE(newer->gate.try_claim());
    EXPECT_EQ(told, 0);
    EXPECT_THROW(guard g(d), int);
    newer->gate.end();
    EXPECT_EQ(mine(), older);
    EXPECT_FALSE(older->is_inside());
    { guard g(d); }
    EXPECT_EQ(told, 1);
  }).join();
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
}

// It may do so while another drains: that stops, and leaves no seat claimed behind. Whatever the thread has counted towards
// its next look.
TYPED_TEST(domains, leave_every_seat_to_its_thread_when_a_drain_throws) {
  static bool throws;
  throws = false;
  typename TestFixture::domain::options chosen{};
  chosen.bound = {.bytes = 0, .passed = [](void*, const garbage&) {
                    if (throws) throw 1;
                  }};
  for (int before = 0; before != 128; ++before) {
    typename TestFixture::domain d(chosen);
    const auto* seat = d.members().first();
    steps there;
    std::thread other([&] {
      TestFixture::retire_some(d, 1);
      seat = d.members().first();
      there.reach(1);
      there.wait_for(2);
    });
    there.wait_for(1);
    for (int n = 0; n != before; ++n) typename TestFixture::guard g(d);
    TestFixture::retire_some(d, 1);
    throws = true;
    try {
      d.drain();
    } catch (int) {
    }
    throws = false;
    const bool is_owned = seat->gate.state() == seat_state::owned;
    there.reach(2);
    other.join();
    ASSERT_TRUE(is_owned) << "after " << before << " guards";
    d.drain();
    ASSERT_EQ(d.statistics().unreclaimed(), 0u);
  }
}

// A filter is installed when readers have light fences already.
TYPED_TEST(domains, go_on_reclaiming_when_membarrier_is_refused_later) {
  if (const char* why = polder::os::lacks_filters()) GTEST_SKIP() << why;
  if (!polder::os::register_heavy_fence() || !polder::os::tour_processors()) GTEST_SKIP() << "no fences here";
  EXPECT_EQ(polder::os::fine, polder::os::forked([] {
              typename TestFixture::domain d;
              TestFixture::retire_some(d, 10);
              if (!d.scheme().fences.asymmetric()) return 1;
              if (!polder::os::answer(SYS_membarrier, ENOSYS)) return 2;
              TestFixture::retire_some(d, 4000);
              if (TypeParam::info.name != "leaky" && d.statistics().unreclaimed() >= 2000) return 3;
              d.synchronize();
              steps there;
              std::thread idle([&] {
                TestFixture::retire_some(d, 10);
                there.reach(1);
                there.wait_for(2);
              });
              there.wait_for(1);
              d.drain();
              there.reach(2);
              idle.join();
              return d.statistics().unreclaimed() == 0 ? 0 : 4;
            }));
}

// If there is no other way either, who would wait for ever is told.
TYPED_TEST(domains, end_with_a_line_when_every_fence_is_refused_later) {
  if (const char* why = polder::os::lacks_filters()) GTEST_SKIP() << why;
  if (!polder::os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  for (const bool drains : {false, true}) {
    const polder::os::ending end = polder::os::forked([drains] {
      typename TestFixture::domain d;
      TestFixture::retire_some(d, 10);
      if (!polder::os::answer(SYS_membarrier, ENOSYS) || !polder::os::answer(SYS_sched_setaffinity, EPERM))
        return 1;
      TestFixture::retire_some(d, 4000);
      if (drains) d.drain();
      else d.synchronize();
      return 2;
    });
    EXPECT_EQ(end.signal, SIGABRT) << end << (drains ? " of a drain" : " of synchronize()");
  }
}

// A thread that had a place in the ring, and no seat yet, when another one forked.
TEST(token_domains, pass_by_a_place_whose_thread_is_gone) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  using tokens = domains<token>;
  tokens::domain d;
  tokens::retire_some(d, 1);
  const std::remove_cvref_t<decltype(d.scheme())>::turn lost(d.scheme());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    tokens::retire_some(d, 20'000);
    _exit(d.statistics().unreclaimed() < 2000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  d.drain();
}

}  // namespace
