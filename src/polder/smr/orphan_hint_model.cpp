// orphan_hint under the model checker: whoever looks for seats without a thread finds them, or the hint stays.
#include <polder/smr/orphan_hint.hpp>
#include <polder/smr/seat_gate.hpp>

#include "explore.hpp"

namespace {

using polder::plain;
using polder::smr::orphan_hint;
using polder::smr::seat_gate;
using polder::smr::seat_state;

template <unsigned Leavers>
struct world {
  seat_gate seats[Leavers];
  orphan_hint hint;
  plain<unsigned> adopted;

  void before() {
    for (seat_gate& s : seats) POLDER_MODEL_CHECK(s.try_own());
  }
  void leave(unsigned self) {
    seats[self].disown();
    hint.left();
  }
  void adopt() {
    if (!hint.some()) return;
    hint.look();
    for (seat_gate& s : seats) {
      if (s.state() != seat_state::free || !s.try_take()) continue;
      adopted.set(adopted.get() + 1);
      s.end();
    }
  }
  // An adopted seat may be taken again, for it is free: as many as there are were seen to.
  void after() { POLDER_MODEL_CHECK(hint.some() || adopted.get() >= Leavers); }
};

struct one_leaves : rl::test_suite<one_leaves, 2>, world<1> {
  void before() { world::before(); }
  void thread(unsigned self) {
    if (self == 0) return leave(0);
    hint.left();  // as by one that was seen to already
    adopt();
  }
  void after() { world::after(); }
};

struct two_leave : rl::test_suite<two_leave, 3>, world<2> {
  void before() { world::before(); }
  void thread(unsigned self) { self == 2 ? adopt() : leave(self); }
  void after() { world::after(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<one_leaves>({.title = "a thread leaves, another looks", .how = search::complete, .floor = 20});
  ok &= passes<two_leave>({.title = "two leave, one looks", .how = search::bounded, .floor = 200, .switches = 3});
  ok &= passes<two_leave>({.title = "two leave, one looks", .executions = 40'000});
  return ok ? 0 : 1;
}
