// meeting_slot under the model checker: a node goes to one who waits, whole, or stays with who has it.
#include <polder/ds/parts/meeting_slot.hpp>

#include "explore.hpp"

namespace {

struct node {
  polder::plain<int> number;
};

// The first Givers come by twice, with a node of their own each time; the others wait twice.
template <unsigned Givers, unsigned Takers>
struct at_one_slot : rl::test_suite<at_one_slot<Givers, Takers>, int(Givers + Takers)> {
  polder::ds::meeting_slot<node> slot;
  node nodes[Givers][2];
  int times[Givers + Takers][2 * Givers + 1] = {};

  void thread(unsigned self) {
    for (unsigned i = 0; i != 2; ++i) {
      if (self < Givers) {
        node& mine = nodes[self][i];
        mine.number.set(int(2 * self + i) + 1);
        // Who met nobody has it still.
        if (!slot.is_awaited() || !slot.meet(&mine)) has(self, mine);
      } else if (slot.wait()) {
        if (node* const n = slot.leave()) has(self, *n);
      }
    }
  }
  void has(unsigned self, node& n) {
    ++times[self][n.number.get()];
    n.number.set(-1);
  }
  void after() {
    POLDER_MODEL_CHECK(!slot.is_awaited() && slot.wait() && slot.leave() == nullptr);
    for (unsigned n = 1; n <= 2 * Givers; ++n) {
      int all = 0;
      for (const auto& of : times) all += of[n];
      POLDER_MODEL_CHECK(all == 1);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<at_one_slot<1, 1>>({.title = "slot: one and one", .how = search::complete, .floor = 50});
  ok &= passes<at_one_slot<2, 1>>(
      {.title = "slot: two come by", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<at_one_slot<1, 2>>({.title = "slot: two wait", .how = search::bounded, .floor = 100, .switches = 3});
  return ok ? 0 : 1;
}
