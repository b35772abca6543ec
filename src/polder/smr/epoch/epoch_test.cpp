// The epoch's pace: how often it moves, what hastens it, and what a long free does to it (the thesis, 3.2).
#include <polder/smr/epoch/epoch.hpp>

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

namespace polder::smr {
namespace {

template <class R>
class epochs : public ::testing::Test {
 protected:
  using domain = typename R::domain;
  using guard = typename R::template guard<1>;
};
using schemes = ::testing::Types<ebr, debra, qsbr>;
TYPED_TEST_SUITE(epochs, schemes);

TYPED_TEST(epochs, last_as_many_operations_as_the_option_says) {
  typename TypeParam::domain d;
  const std::uint64_t before = d.scheme().now();
  for (int n = 0; n != 50'000; ++n) typename TestFixture::guard g(d);
  const std::uint64_t passed = d.scheme().now() - before;
  EXPECT_LE(passed, 100u);
  EXPECT_GE(passed, 60u);
}

// Otherwise 500 of them, three epochs long, would be some gigabytes.
TYPED_TEST(epochs, are_short_for_who_retires_much) {
  struct large {
    char bytes[256 * 1024];
  };
  typename TypeParam::domain d;
  std::uint64_t most = 0;
  for (int n = 0; n != 1'000; ++n) {
    typename TestFixture::guard g(d);
    g.retire(g.template make<large>());
    most = std::max(most, d.statistics().unreclaimed_bytes());
  }
  EXPECT_LE(most, 32u * 1024 * 1024);
  d.drain();
}

// Whoever frees is inside, so the epoch moves once at most, however long it takes: the delay that the thesis sees go round.
TYPED_TEST(epochs, move_once_at_most_while_a_batch_is_freed) {
  static typename TypeParam::domain* domain;
  static std::atomic<bool> freeing, seen;
  static std::uint64_t moved;
  struct slow {
    ~slow() {
      if (seen.exchange(true)) return;
      const std::uint64_t begin = domain->scheme().now();
      freeing = true;
      while (freeing) sched_yield();  // until another has done 20,000 operations
      moved = domain->scheme().now() - begin;
    }
  };
  typename TypeParam::domain d;
  domain = &d;
  freeing = seen = false;
  std::atomic<bool> over{false};
  std::uint64_t free_of_it = 0;
  std::thread other([&] {
    const auto operate = [&](int operations) {
      const std::uint64_t begin = d.scheme().now();
      while (operations-- != 0) typename TestFixture::guard g(d);
      return d.scheme().now() - begin;
    };
    while (!freeing) operate(1), sched_yield();
    operate(20'000);
    freeing = false;
    while (!over) operate(1), sched_yield();
    d.detach();
  });
  while (!seen || freeing) {
    typename TestFixture::guard g(d);
    g.retire(g.template make<slow>());
  }
  over = true;
  other.join();
  {
    const std::uint64_t begin = d.scheme().now();
    for (int n = 0; n != 20'000; ++n) typename TestFixture::guard g(d);
    free_of_it = d.scheme().now() - begin;
  }
  EXPECT_LE(moved, 1u);
  EXPECT_GE(free_of_it, 20u);
  d.drain();
}

// Looks at others with each operation, or with none: then what was retired decides.
TYPED_TEST(epochs, move_however_often_a_thread_looks) {
  struct small {
    char bytes[64];
  };
  for (const unsigned every : {0u, 1u, ~0u}) {
    typename TypeParam::domain::options often{};
    often.scheme.operations_a_check = every, often.scheme.bytes_an_epoch = 4096;
    typename TypeParam::domain d(often);
    std::uint64_t most = 0;
    for (int n = 0; n != 10'000; ++n) {
      typename TestFixture::guard g(d);
      g.retire(g.template make<small>());
      most = std::max(most, d.statistics().unreclaimed());
    }
    EXPECT_LE(most, 500u) << every;
    d.drain();
  }
  typename TypeParam::domain::options each{};
  each.scheme.operations_a_check = 0;
  typename TypeParam::domain d(each);
  for (int n = 0; n != 50'000; ++n) typename TestFixture::guard g(d);
  EXPECT_GE(d.scheme().now(), 60u);
}

}  // namespace
}  // namespace polder::smr
