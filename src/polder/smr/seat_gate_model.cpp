// seat_gate under the model checker: the bags of a seat are one thread's at a time, and none is lost.
#include <polder/smr/epoch/epoch_clock.hpp>
#include <polder/smr/seat_gate.hpp>

#include "explore.hpp"
#include "model_fences.hpp"

namespace {

using polder::plain;
using polder::smr::epoch_clock;
using polder::smr::seat_gate;

struct world {
  epoch_clock clock;
  epoch_clock::seat seat;
  seat_gate gate;
  plain<int> bag;      // how many objects
  plain<int> retired;  // by the owner, elsewhere after it walked away
  plain<int> collected[2];
  polder::model::fences fences;

  void retire_one() {
    for (;;) {
      const std::uint64_t mine = clock.enter(seat, fences);
      if (gate.still_mine()) {
        bag.set(bag.get() + 1);
        clock.leave(seat, mine);
        return;
      }
      clock.leave(seat, mine);
      if (gate.walk_away()) return retired.set(retired.get() + 1);
    }
  }
  void collect(unsigned self) {
    if (gate.try_take()) {
      empty(self);
      gate.end();
    } else if (gate.try_claim()) {
      if (fences.heavy() && !seat.inside()) empty(self);
      gate.end();
    }
  }
  void empty(unsigned self) {
    collected[self].set(collected[self].get() + bag.get());
    bag.set(0);
  }
};

struct owner_and_claimer : rl::test_suite<owner_and_claimer, 2>, world {
  void before() { POLDER_MODEL_CHECK(gate.try_own()); }
  void thread(unsigned self) {
    if (self == 0) {
      retire_one();
      if (retired.get() == 0) retire_one();
      if (retired.get() == 0) gate.disown();
    } else {
      collect(0);
      collect(0);
    }
  }
  void after() {
    const int all = bag.get() + retired.get() + collected[0].get();
    POLDER_MODEL_CHECK(all == 2 || (all == 1 && retired.get() == 1));
  }
};

// A thread leaves, another takes the seat, a third collects.
struct handed_over : rl::test_suite<handed_over, 3>, world {
  plain<int> second;
  void before() { POLDER_MODEL_CHECK(gate.try_own()); }
  void thread(unsigned self) {
    if (self == 0) {
      retire_one();
      if (retired.get() == 0) gate.disown();
    } else if (self == 1) {
      if (gate.try_own()) {
        second.set(1);
        const std::uint64_t mine = clock.enter(seat, fences);
        if (gate.still_mine()) bag.set(bag.get() + 1), second.set(0);
        clock.leave(seat, mine);
        gate.disown();
      } else {
        second.set(1);
      }
    } else {
      collect(0);
      collect(0);
    }
  }
  void after() { POLDER_MODEL_CHECK(bag.get() + retired.get() + second.get() + collected[0].get() == 2); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds) {
    ok &= passes<owner_and_claimer>(
        {.title = "an owner and a claimer", .how = search::bounded, .floor = 500, .switches = 4, .world = w});
    ok &= passes<owner_and_claimer>({.title = "an owner and a claimer", .executions = 60'000, .world = w});
    ok &= passes<handed_over>({.title = "a seat that changes hands", .executions = 80'000, .world = w});
  }
  return ok ? 0 : 1;
}
