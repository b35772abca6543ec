// presence under the model checker: who waits for the guards that are open frees what none of them reads any more.
#include "explore.hpp"

#undef sched_yield  // the model checker's
#include <polder/smr/presence.hpp>

#include "model_fences.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;

struct one_member {
  struct member {
    polder::smr::presence seat;
    const member* next = nullptr;
  };
  member it;
  const member* first() const { return &it; }
};

// A reader has two guards, one after the other, and its seat is vacated behind them; meanwhile what it reads is unlinked and freed.
struct waits : rl::test_suite<waits, 2> {
  one_member members;
  polder::model::fences fences;
  atomic<int> reachable{1};
  plain<int> what{1};

  void thread(unsigned self) {
    if (self == 0) {
      for (int i = 0; i != 2; ++i) {
        members.it.seat.enter();
        fences.light();
        if (reachable.load(order::relaxed) == 1) POLDER_MODEL_CHECK(what.get() == 1);
        members.it.seat.leave();
      }
      members.it.seat.vacate();
    } else {
      reachable.store(0, order::relaxed);
      polder::smr::wait_for_guards(members, fences);
      what.set(2);
    }
  }
  void after() { POLDER_MODEL_CHECK(!members.it.seat.inside()); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds)
    ok &= passes<waits>({.title = "presence: waits for a guard", .executions = 5'000, .world = w});
  return ok ? 0 : 1;
}
