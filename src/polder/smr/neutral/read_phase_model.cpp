// read_phase and rounds under the model checker: what a phase reads is not freed before it is over, what it published is not
// freed at all, and one thread's round serves another.
//
// The signal is a flag that the reader obeys at its next step, whenever that sees it: no sooner than a signal arrives.
#include <polder/smr/neutral/read_phase.hpp>

#include <polder/smr/neutral/rounds.hpp>

#include "explore.hpp"
#include "model_fences.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::smr::read_phase;
using polder::smr::rounds;

// Objects 1, 2, … are reachable through words; 0 is none. Freeing one is writing to it: whoever reads it then races.
struct world {
  static constexpr unsigned words = 2;
  read_phase phase;
  rounds round;
  atomic<int> slot;
  atomic<int> shared[words];
  plain<int> objects[5];
  polder::model::fences fences;

  void start() {
    for (int w = 0; w != words; ++w) {
      objects[w + 1].set(w + 1);
      shared[w].store(w + 1, order::relaxed);
    }
  }

  void look_at(int n) { POLDER_MODEL_CHECK(objects[n].get() == n); }

  // As a guard does: finds something in a phase, and goes on with it after the phase.
  template <bool PublishInTime = true>
  void search(unsigned w) {
    phase.begin();
    int found;
    for (;;) {
      fences.light();
      found = shared[w].load(order::acquire);
      if (obeys()) continue;
      look_at(found);
      if (obeys()) continue;
      if (PublishInTime) publish(found);
      if (obeys()) continue;
      phase.end();
      break;
    }
    if (!PublishInTime) publish(found);
    look_at(found);
    publish(0);
  }
  bool obeys() {
    if (!phase.asked()) return false;
    phase.again();
    return true;
  }
  void publish(int n) { slot.store(n, order::release); }

  int unlink(unsigned w, int by) {
    objects[by].set(by);
    return shared[w].exchange(by, order::acq_rel);
  }
  void free_unless_published(int old) {
    if (slot.load(order::acquire) != old) objects[old].set(-1);
  }
  // False: the phase is not over yet.
  template <bool Waits = true>
  bool all_begun_anew() {
    const rounds::number n = round.begin();
    if (!fences.heavy()) return false;
    const read_phase::number seen = phase.current();
    if (seen != 0) {
      phase.ask(seen);
      if (Waits && !phase.over()) return false;
    }
    round.end(n);
    return true;
  }
};

struct reader_and_reclaimer : rl::test_suite<reader_and_reclaimer, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      search<>(0);
      search<>(0);
    } else {
      for (const int by : {3, 4}) {
        const int old = unlink(0, by);
        if (all_begun_anew() || all_begun_anew()) free_unless_published(old);
      }
    }
  }
};

// A third unlinks something, marks, and does with the reclaimer's round.
template <bool Marks>
struct shared_round : rl::test_suite<shared_round<Marks>, 3>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      search<>(1);
    } else if (self == 1) {
      if (!all_begun_anew()) all_begun_anew();
    } else {
      const int old = unlink(1, 3);
      const rounds::number mark = Marks ? round.mark() : 0;
      if (round.since(mark)) free_unless_published(old);
    }
  }
};

// Two make rounds of their own at once.
struct two_reclaimers : rl::test_suite<two_reclaimers, 3>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      search<>(0);
      search<>(1);
    } else {
      const int old = unlink(self - 1, int(self) + 2);
      if (all_begun_anew() || all_begun_anew()) free_unless_published(old);
    }
  }
};

// What the paper takes for granted: a signal that was sent has arrived.
struct sent_is_not_arrived : rl::test_suite<sent_is_not_arrived, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      search<>(0);
    } else {
      const int old = unlink(0, 3);
      if (all_begun_anew<false>()) free_unless_published(old);
    }
  }
};

struct published_too_late : rl::test_suite<published_too_late, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      search<false>(0);
    } else {
      const int old = unlink(0, 3);
      if (all_begun_anew() || all_begun_anew()) free_unless_published(old);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds) {
    ok &= passes<reader_and_reclaimer>(
        {.title = "phase: reader and reclaimer", .how = search::bounded, .floor = 500, .switches = 3, .world = w});
    ok &= passes<reader_and_reclaimer>({.title = "phase: reader and reclaimer", .executions = 40'000, .world = w});
    ok &= passes<shared_round<true>>(
        {.title = "phase: another's round", .how = search::bounded, .floor = 500, .switches = 3, .world = w});
    ok &= passes<shared_round<true>>({.title = "phase: another's round", .executions = 40'000, .world = w});
    ok &= passes<two_reclaimers>({.title = "phase: two reclaimers", .executions = 40'000, .world = w});
    ok &= must_fail<shared_round<false>>(
        {.title = "phase: a round that began before", .executions = 40'000, .world = w}, rl::test_result_data_race);
    ok &= must_fail<sent_is_not_arrived>(
        {.title = "phase: sent is not arrived", .how = search::bounded, .switches = 3, .world = w},
        rl::test_result_data_race);
    ok &= must_fail<published_too_late>(
        {.title = "phase: published too late", .how = search::bounded, .switches = 3, .world = w},
        rl::test_result_data_race);
  }
  return ok ? 0 : 1;
}
