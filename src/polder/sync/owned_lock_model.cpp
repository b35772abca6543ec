// owned_lock under the model checker: one at a time, what one did the next one sees, and nobody sleeps for ever.
#include <polder/sync/owned_lock.hpp>

#include "explore.hpp"

namespace {

using polder::owned_lock;
using polder::plain;

// What the kernel does for sleepers: the look at the word and the falling asleep are one step for who wakes.
struct kernel {
  static rl::debug_info here(polder::model::place at = polder::model::place::current()) {
    return polder::model::info(at);
  }
  rl::mutex bucket;
  rl::condition_variable sleepers;

  template <class Differs>
  void sleep(Differs differs) {
    bucket.lock(here());
    if (!differs()) sleepers.wait(bucket, here());
    bucket.unlock(here());
  }
  void wake() {
    bucket.lock(here());
    sleepers.notify_one(here());
    bucket.unlock(here());
  }
};

template <unsigned Threads, unsigned Rounds>
struct taking_turns : rl::test_suite<taking_turns<Threads, Rounds>, int(Threads)> {
  owned_lock lock;
  kernel system;
  plain<unsigned> count;

  void before() { count.set(0); }
  void thread(unsigned self) {
    const owned_lock::mark me = self + 1;
    for (unsigned round = 0; round != Rounds; ++round) {
      lock.lock(me, [&](owned_lock::mark seen) { system.sleep([&] { return lock.now() != seen; }); });
      POLDER_MODEL_CHECK(lock.holder() == me);
      count.set(count.get() + 1);
      lock.unlock([&] { system.wake(); });
    }
  }
  void after() {
    POLDER_MODEL_CHECK(count.get() == Threads * Rounds);
    POLDER_MODEL_CHECK(lock.holder() == 0);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<taking_turns<2, 2>>(
      {.title = "owned_lock: two threads, twice", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &= passes<taking_turns<3, 1>>(
      {.title = "owned_lock: three threads", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &= passes<taking_turns<3, 2>>({.title = "owned_lock: three threads, twice", .executions = 30'000});
  return ok ? 0 : 1;
}
