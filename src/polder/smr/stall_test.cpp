// Who keeps others from reclaiming is told by name, and nobody else is: under every scheme of the registry (sanitizers: one
// of each algorithm).
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <polder/base/sanitizers.hpp>
#include <polder/smr/all.hpp>
#include <polder/smr/schemes_test.hpp>
#include <polder/smr/steps_test.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using polder::atomic;
using polder::order;
using namespace polder::smr;

template <class R>
struct node : R::header {
  long filling[4] = {};
};

template <class R>
class stalls : public testing::Test {
 public:
  using domain = typename R::domain;
  using guard = typename R::template guard<1>;

  static std::vector<stall> all_of(domain& d, std::uint64_t older_than = 0) {
    std::vector<stall> found;
    const unsigned told = d.stalls(older_than, [&](const stall& s) { found.push_back(s); });
    EXPECT_EQ(told, found.size());
    return found;
  }
  // Of the thread; no thread: it is not named.
  static stall of(domain& d, std::uint32_t thread) {
    for (const stall& s : all_of(d)) {
      if (s.thread == thread) return s;
    }
    return {};
  }
  // Until it was seen to stand for so long.
  static stall stood_for(domain& d, std::uint32_t thread, std::uint64_t milliseconds) {
    for (;;) {
      const stall s = of(d, thread);
      if (!s || s.milliseconds >= milliseconds) return s;
      std::this_thread::yield();
    }
  }
};
TYPED_TEST_SUITE(stalls, tests_of<tested>::types, names_of_schemes);

TYPED_TEST(stalls, name_who_stays_in_a_guard_and_for_how_long) {
  typename TestFixture::domain d;
  steps done, told;
  std::uint32_t other = 0;
  std::thread reader([&] {
    other = std::uint32_t(::gettid());
    pthread_setname_np(pthread_self(), "the reader");
    {
      typename TestFixture::guard g(d);
      done.reach(1);
      told.wait_for(1);
    }
    {
      typename TestFixture::guard g(d);
      done.reach(2);
      told.wait_for(2);
    }
    done.reach(3);
    told.wait_for(3);
  });
  { typename TestFixture::guard mine(d); }
  done.wait_for(1);
  const stall first = TestFixture::of(d, other);
  EXPECT_EQ(first.thread, other);
  EXPECT_EQ(first.milliseconds, 0u);
  EXPECT_TRUE(first.inside);
  EXPECT_STREQ(first.name.text, "the reader");
  const stall later = TestFixture::stood_for(d, other, 20);
  EXPECT_GE(later.milliseconds, 20u);
  EXPECT_EQ(d.longest_stall().thread, other);
  EXPECT_TRUE(TestFixture::all_of(d, later.milliseconds + 1'000'000).empty());
  EXPECT_EQ(TestFixture::all_of(d, 20).size(), 1u);  // and nobody else

  told.reach(1);  // it moves on, to another guard: the time begins anew
  done.wait_for(2);
  EXPECT_EQ(TestFixture::of(d, other).milliseconds, 0u);

  told.reach(2);  // outside
  done.wait_for(3);
  const bool idle_counts = TypeParam::info.name == "qsbr";
  const stall idle = TestFixture::of(d, other);
  EXPECT_EQ(bool(idle), idle_counts);
  EXPECT_FALSE(idle.inside);
  if (idle_counts) {
    EXPECT_EQ(TestFixture::stood_for(d, other, 10).thread, other);
  }

  told.reach(3);  // gone
  reader.join();
  EXPECT_FALSE(d.longest_stall());
}

// Who opens one guard after the other is not in the way for long, however many look, and while another is.
TYPED_TEST(stalls, do_not_name_who_goes_on) {
  typename TestFixture::domain d;
  steps done;
  atomic<std::uint32_t> busy{0}, stays{0};
  std::thread reader([&] {
    typename TestFixture::guard g(d);
    stays.store(std::uint32_t(::gettid()), order::release);
    done.wait_for(1);
  });
  while (stays.load(order::acquire) == 0) std::this_thread::yield();
  atomic<long> guards{0};
  std::thread worker([&] {
    while (!done.reached(1)) {
      typename TestFixture::guard g(d);
      g.retire(g.template make<node<TypeParam>>());
      busy.store(std::uint32_t(::gettid()), order::release);
      guards.fetch_add(1, order::release);
    }
  });
  while (busy.load(order::acquire) == 0) std::this_thread::yield();
  // Time is told of who stood still from one look to the next: between any two the worker opens a guard.
  std::uint64_t longest = 0;
  for (int n = 0; n != 100; ++n) {
    longest = std::max(longest, TestFixture::of(d, busy.load(order::relaxed)).milliseconds);
    const long seen = guards.load(order::acquire);
    while (guards.load(order::acquire) < seen + 2) std::this_thread::yield();
  }
  EXPECT_EQ(longest, 0u);
  EXPECT_EQ(TestFixture::stood_for(d, stays.load(order::relaxed), 5).thread, stays.load(order::relaxed));
  done.reach(1);
  reader.join();
  worker.join();
  d.drain();
}

// The thread that finds itself past its bound hears who is in its way.
TYPED_TEST(stalls, are_told_to_who_passes_its_bound) {
  static atomic<std::uint32_t> told, other;
  static atomic<long> longest;
  told.store(0, order::relaxed), other.store(0, order::relaxed), longest.store(-1, order::relaxed);
  // A drain that frees nothing, so that what can be freed passes the bound too.
  typename TestFixture::domain::options chosen{.drain = {.how = drain_policy::way::amortized, .an_operation = 0}};
  chosen.bound = {.bytes = 16 * 1024, .stalled = [](void*, const stall& by) {
                    told.store(by.thread, order::relaxed);
                    longest.store(long(by.milliseconds), order::relaxed);
                  }};
  typename TestFixture::domain d(chosen);
  steps done;
  std::thread reader([&] {
    typename TestFixture::guard g(d);
    other.store(std::uint32_t(::gettid()), order::release);
    done.wait_for(1);
  });
  while (other.load(order::acquire) == 0) std::this_thread::yield();
  while (longest.load(order::relaxed) < 10) {
    typename TestFixture::guard g(d);
    for (int n = 0; n != 100; ++n) g.retire(g.template make<node<TypeParam>>());
  }
  EXPECT_EQ(told.load(order::relaxed), other.load(order::relaxed));
  done.reach(1);
  reader.join();
  d.drain();
}

#if !POLDER_SANITIZED
// The child's thread has another number, and nobody else is there.
TEST(stall, is_of_the_child_after_a_fork) {
  debra::domain d;
  steps done;
  atomic<bool> inside{false};
  std::thread reader([&] {
    debra::guard<1> g(d);
    inside.store(true, order::release);
    done.wait_for(1);
  });
  while (!inside.load(order::acquire)) std::this_thread::yield();
  EXPECT_TRUE(d.longest_stall());
  debra::guard<1> mine(d);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    if (d.longest_stall()) _exit(1);
    std::uint32_t who = 0;
    std::thread([&] { who = d.longest_stall().thread; }).join();
    _exit(who == std::uint32_t(::gettid()) ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  done.reach(1);
  reader.join();
}
#endif

}  // namespace
