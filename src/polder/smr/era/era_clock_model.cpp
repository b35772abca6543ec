// era_clock, era_slot and era_interval under the model checker: what a reader got is not freed while its era is published,
// though nobody stamps an object before the look that finds it.
#include <polder/smr/era/era_clock.hpp>

#include "explore.hpp"
#include "model_fences.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::smr::era;
using polder::smr::era_clock;
using polder::smr::era_interval;
using polder::smr::era_slot;
using polder::smr::no_era;

// Objects 1, 2, … are reachable through `shared`; 0 is none. Freeing one is writing to it: whoever reads it then races.
struct world {
  era_clock clock;
  atomic<int> shared;
  plain<int> objects[4];
  era born[4] = {0, 1, 0, 0};  // the reclaimer's, which is the maker
  polder::model::fences fences;

  void start() {
    for (int n = 1; n != 4; ++n) objects[n].set(0);
    objects[1].set(1);
    shared.store(1, order::relaxed);
  }
  void look_at(int n) {
    if (n == 0) return;
    polder::model::pause_point();
    POLDER_MODEL_CHECK(objects[n].get() == n);
  }
  int replace(int by) {
    if (by != 0) {
      born[by] = clock.now();
      objects[by].set(by);
    }
    return shared.exchange(by, order::acq_rel);
  }
  // `each(f)`: f(from, to) of all that is published.
  template <class Each>
  void free_if_unseen(int old, Each&& each) {
    if (!fences.heavy()) return;
    const era retired = clock.now();
    bool kept = false;
    each([&](era from, era to) { kept = kept || (born[old] <= to && from <= retired); });
    if (!kept) objects[old].set(-1);
  }
};

struct slots : world {
  era_slot slot;
  void read() { look_at(slot.protect(shared, clock, fences)); }
  void reclaim(int by) {
    const int old = replace(by);
    free_if_unseen(old, [this](auto f) {
      if (const era e = slot.read(); e != no_era) f(e, e);
    });
  }
};

struct intervals : world {
  era_interval interval;
  era to = no_era;  // the reader's
  void enter() { to = interval.enter(clock, fences); }
  void read() { look_at(interval.protect(shared, to, clock, fences)); }
  void reclaim(int by) {
    const int old = replace(by);
    free_if_unseen(old, [this](auto f) {
      if (const era from = interval.from(); from != no_era) f(from, interval.to());
    });
  }
};

struct slot_and_reclaimer : rl::test_suite<slot_and_reclaimer, 2>, slots {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      read();
      read();
      slot.clear();
    } else {
      reclaim(2);
      clock.tick();
      reclaim(3);
    }
  }
};

// The clock is moved by somebody else: between an unlink and its stamp, and between a reader's look at it and its reading.
struct slot_and_ticker : rl::test_suite<slot_and_ticker, 3>, slots {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      read();
      read();
      slot.clear();
    } else if (self == 1) {
      reclaim(2);
      reclaim(0);
    } else {
      clock.tick();
    }
  }
};

struct interval_and_reclaimer : rl::test_suite<interval_and_reclaimer, 2>, intervals {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      enter();
      read();
      read();
      interval.leave();
    } else {
      clock.tick();
      reclaim(2);
      clock.tick();
      reclaim(3);
    }
  }
};

struct interval_and_ticker : rl::test_suite<interval_and_ticker, 3>, intervals {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      enter();
      read();
      interval.leave();
      enter();
      read();
      interval.leave();
    } else if (self == 1) {
      reclaim(2);
      reclaim(0);
    } else {
      clock.tick();
    }
  }
};

// Why 2GE-IBR is no region scheme (era/interval.hpp): the reader stands on 1, behind which 2 was linked, and reads on after
// both were unlinked. 2 was born after all that the reader has published.
struct reads_on_from_what_is_unlinked : rl::test_suite<reads_on_from_what_is_unlinked, 2>, intervals {
  atomic<int> behind{0};  // 1's link
  atomic<int> freed{0};
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      enter();
      if (interval.protect(shared, to, clock, fences) == 1 && interval.protect(behind, to, clock, fences) == 2)
        POLDER_MODEL_CHECK(freed.load(order::relaxed) == 0);
      interval.leave();
    } else {
      clock.tick();
      born[2] = clock.now();
      behind.store(2, order::release);
      shared.store(2, order::release);  // 1 is unlinked
      shared.store(0, order::release);  // and 2
      if (!fences.heavy()) return;
      const era retired = clock.now();
      const era from = interval.from();
      if (from == no_era || interval.to() < born[2] || from > retired) freed.store(1, order::relaxed);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds) {
    ok &= passes<slot_and_reclaimer>(
        {.title = "eras: slot and reclaimer", .how = search::bounded, .floor = 1000, .switches = 3, .world = w});
    ok &= passes<slot_and_reclaimer>({.title = "eras: slot and reclaimer", .executions = 60'000, .world = w});
    ok &= passes<slot_and_ticker>({.title = "eras: slot, reclaimer, ticker", .executions = 100'000, .world = w});
    ok &= passes<interval_and_reclaimer>({.title = "eras: interval and reclaimer",
                                          .how = search::bounded,
                                          .floor = 1000,
                                          .switches = 3,
                                          .world = w});
    ok &=
        passes<interval_and_reclaimer>({.title = "eras: interval and reclaimer", .executions = 60'000, .world = w});
    ok &= passes<interval_and_ticker>({.title = "eras: interval, reclaimer, ticker",
                                       .how = search::bounded,
                                       .floor = 1000,
                                       .switches = 3,
                                       .world = w});
    ok &= passes<interval_and_ticker>(
        {.title = "eras: interval, reclaimer, ticker", .executions = 100'000, .world = w});
    ok &= must_fail<reads_on_from_what_is_unlinked>({.title = "eras: interval, reads on from what is unlinked",
                                                     .how = search::bounded,
                                                     .switches = 3,
                                                     .world = w});
  }
  return ok ? 0 : 1;
}
