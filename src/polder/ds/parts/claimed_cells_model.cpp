// claimed_cells under the model checker: a cell's putter and its getter agree, and an element is one thread's at a time.
#include <polder/ds/parts/claimed_cells.hpp>

#include "explore.hpp"
#include "model_fences.hpp"
#include "ring_worlds.hpp"

namespace {

using polder::model::element;

struct world {
  polder::ds::claimed_cells<element, 2> cells;
  polder::model::fences fences;
  bool put[2] = {}, got[2] = {};

  void fill(unsigned i) {
    element e(int(i + 1));
    put[i] = cells.fill(i, e, fences);
    POLDER_MODEL_CHECK(put[i] || e.number.get() == int(i + 1));
  }
  void take(unsigned i) {
    if (!cells.wait(i, 1, fences)) return;
    got[i] = true;
    POLDER_MODEL_CHECK(cells.take(i).number.get() == int(i + 1));
  }
  void agree() const {
    for (unsigned i = 0; i != 2; ++i) POLDER_MODEL_CHECK(put[i] == got[i]);
  }
};

// The second cell is in doubt from the beginning, if the first was.
struct in_turn : rl::test_suite<in_turn, 2>, world {
  void thread(unsigned self) {
    for (unsigned i = 0; i != 2; ++i) self == 0 ? fill(i) : take(i);
  }
  void after() { agree(); }
};

// The second getter goes by the first one's fence, or passes its own. Nobody fills the first one's cell.
struct a_fence_for_two : rl::test_suite<a_fence_for_two, 3>, world {
  void thread(unsigned self) {
    if (self == 0) fill(1);
    else take(self - 1);
  }
  void after() { agree(); }
};

struct a_cell_each : rl::test_suite<a_cell_each, 4>, world {
  void thread(unsigned self) { self < 2 ? fill(self) : take(self - 2); }
  void after() { agree(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds) {
    ok &= passes<in_turn>(
        {.title = "claimed_cells: two cells", .how = search::bounded, .floor = 100, .switches = 3, .world = w});
    ok &= passes<a_fence_for_two>({.title = "claimed_cells: one fence for two", .executions = 50'000, .world = w});
    ok &= passes<a_cell_each>({.title = "claimed_cells: four threads", .executions = 20'000, .world = w});
  }
  return ok ? 0 : 1;
}
