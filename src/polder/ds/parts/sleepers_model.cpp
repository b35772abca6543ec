// sleepers under the model checker: nobody sleeps for ever while there is what it waits for.
#include <polder/ds/parts/sleepers.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::ds::sleepers;

rl::debug_info here(polder::model::place at = polder::model::place::current()) { return polder::model::info(at); }

// What the kernel does: the look at the word and the falling asleep are one step for who wakes.
struct kernel {
  rl::mutex bucket;
  rl::condition_variable asleep;

  void sleep(const atomic<sleepers::key>* word, sleepers::key seen) {
    bucket.lock(here());
    if (word->load(order::relaxed) == seen) asleep.wait(bucket, here());
    bucket.unlock(here());
  }
  void wake_one() {
    bucket.lock(here());
    asleep.notify_one(here());
    bucket.unlock(here());
  }
};

// Things that are put and taken by relaxed steps: what orders them is the fences.
template <unsigned Putters, unsigned Takers>
struct handing_over : rl::test_suite<handing_over<Putters, Takers>, int(Putters + Takers)> {
  sleepers s;
  kernel system;
  atomic<unsigned> things{0};

  void put() {
    things.fetch_add(1, order::relaxed);
    s.happened([&](const void*) { system.wake_one(); });
  }
  bool take() {
    unsigned now = things.load(order::relaxed);
    while (now != 0) {
      if (things.cas(now, now - 1, order::relaxed, order::relaxed)) return true;
    }
    return false;
  }
  void wait() {
    if (take()) return;
    sleepers::key key = s.come();
    while (!take()) {
      system.sleep(s.word(), key);
      key = s.again();
    }
    s.go();
  }
  void thread(unsigned self) {
    if (self >= Putters) return wait();
    for (unsigned i = 0; i != Takers / Putters; ++i) put();
  }
  void after() { POLDER_MODEL_CHECK(things.load(order::relaxed) == 0); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<handing_over<1, 1>>(
      {.title = "sleepers: one and one", .how = search::bounded, .floor = 50, .switches = 3});
  ok &= passes<handing_over<1, 2>>({.title = "sleepers: one wakes two", .executions = 8'000});
  ok &= passes<handing_over<2, 2>>({.title = "sleepers: two and two", .executions = 8'000});
  return ok ? 0 : 1;
}
