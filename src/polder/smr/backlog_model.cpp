// backlog under the model checker: who has waited finds done what was handed over before, and nobody sleeps for ever.
#include <polder/smr/backlog.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::plain;
using polder::smr::backlog;

rl::debug_info here(polder::model::place at = polder::model::place::current()) { return polder::model::info(at); }

// What the kernel does for who sleeps on a word: the look at it and the falling asleep are one step for who wakes.
struct sleeping {
  rl::mutex bucket;
  rl::condition_variable asleep;

  void sleep(const atomic<backlog::mark>* word, backlog::mark seen) {
    bucket.lock(here());
    if (word->load(polder::order::relaxed) == seen) asleep.wait(bucket, here());
    bucket.unlock(here());
  }
  void wake_one() {
    bucket.lock(here());
    asleep.notify_one(here());
    bucket.unlock(here());
  }
};

// As smr/background.cpp: thread 0 hands over, waits and asks for the end, thread 1 works, a third one hands over too.
template <unsigned Threads>
struct handing_over : rl::test_suite<handing_over<Threads>, int(Threads)> {
  backlog work;
  rl::mutex lock;
  plain<unsigned> waiting;  // under the lock: a bit for each thing
  plain<bool> stop;         // the same
  plain<int> freed[4];      // how often each was
  sleeping worker, waiter;

  void add(unsigned things, bool end) {
    lock.lock(here());
    waiting.set(waiting.get() | things);
    if (end) stop.set(true);
    work.add();
    lock.unlock(here());
    worker.wake_one();
  }
  void be_worker() {
    for (bool end = false; !end;) {
      lock.lock(here());
      const backlog::mark seen = work.given();
      const unsigned things = waiting.get();
      waiting.set(0);
      end = stop.get();
      lock.unlock(here());
      for (unsigned i = 0; i != 4; ++i) {
        if ((things >> i & 1) != 0) freed[i].set(freed[i].get() + 1);
      }
      work.done(seen);
      waiter.wake_one();
      if (!end) work.idle(seen, [&](auto* word, backlog::mark then) { worker.sleep(word, then); });
    }
  }
  void finish() {
    work.finish([&](auto* word, backlog::mark then) { waiter.sleep(word, then); });
  }
  void thread(unsigned self) {
    if (self == 1) return be_worker();
    add(1u << self, false);
    if (self == 2) return;
    finish();
    POLDER_MODEL_CHECK(freed[0].get() == 1);
    if (Threads == 2) {
      add(1u << 3, false);
      finish();
      POLDER_MODEL_CHECK(freed[3].get() == 1);
    }
    add(0, true);
  }
  // Only what came when the end had been asked for may wait.
  void after() { POLDER_MODEL_CHECK(freed[2].get() + int(waiting.get() >> 2) == int(Threads == 3)); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<handing_over<2>>(
      {.title = "backlog: one hands over", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<handing_over<3>>({.title = "backlog: two hand over", .executions = 10'000});
  return ok ? 0 : 1;
}
