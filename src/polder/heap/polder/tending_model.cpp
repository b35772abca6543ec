// tending under the model checker: who was asked sees what was done before, does not leave without a look at it, and is alone.
#include <polder/heap/polder/tending.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::heap::tending;
using state = tending::state;

// One is at work while another tends.
struct at_work : rl::test_suite<at_work, 2> {
  tending heap;
  plain<int> done, of_which_seen;
  plain<bool> was_asked;

  void before() { POLDER_MODEL_CHECK(heap.call(state::untended) && heap.come()); }
  void thread(unsigned self) {
    if (self == 0) {
      done.set(1);
      was_asked.set(heap.ask() == state::asked);
      return;
    }
    do {
      if (heap.look()) of_which_seen.set(of_which_seen.get() + done.get());
    } while (!heap.leave());
  }
  void after() {
    POLDER_MODEL_CHECK(of_which_seen.get() == int(was_asked.get()));
    POLDER_MODEL_CHECK(heap.ask() == state::untended);
  }
};

// All that are at work may call; of one nobody comes.
struct called : rl::test_suite<called, 3> {
  tending heap;
  atomic<int> inside{0};

  void tend() {
    if (!heap.come()) return;
    POLDER_MODEL_CHECK(inside.fetch_add(1, order::relaxed) == 0);
    static_cast<void>(heap.look());
    inside.fetch_sub(1, order::relaxed);
    while (!heap.leave()) static_cast<void>(heap.look());
  }
  void thread(unsigned self) {
    const state seen = heap.ask();
    if (seen == state::asked || !heap.call(seen)) return;
    if (self == 0) heap.nobody_comes();
    else tend();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<at_work>({.title = "tending: one at work", .how = search::complete, .floor = 10});
  ok &= passes<called>({.title = "tending: called by many", .how = search::bounded, .floor = 500, .switches = 2});
  return ok ? 0 : 1;
}
