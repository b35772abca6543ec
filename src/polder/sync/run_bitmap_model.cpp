// run_bitmap under the model checker: a place has one holder, and comes with what its last holder wrote.
#include <polder/sync/run_bitmap.hpp>

#include "explore.hpp"

namespace {

using polder::plain;
using polder::run_bitmap;

// Three places open, so that runs of two must collide.
struct crowded {
  static constexpr unsigned first_open = 61;
  run_bitmap bits;
  plain<int> contents[run_bitmap::places - first_open];

  void fill_up() { POLDER_MODEL_CHECK(bits.try_take_at(0, first_open)); }
  void touch(unsigned at, unsigned n) {
    for (unsigned i = at; i != at + n; ++i) {
      plain<int>& c = contents[i - first_open];
      c.set(c.get() + 1);
    }
  }
  void take_touch_give(unsigned n) {
    const unsigned at = bits.try_take(n);
    if (at == run_bitmap::none) return;
    touch(at, n);
    POLDER_MODEL_CHECK(bits.give(at, n));
  }
  void take_at_touch_give(unsigned at, unsigned n) {
    if (!bits.try_take_at(at, n)) return;
    touch(at, n);
    POLDER_MODEL_CHECK(bits.give(at, n));
  }
  void coalesced() { POLDER_MODEL_CHECK(bits.try_take(3) == first_open); }
};

struct two_takers : rl::test_suite<two_takers, 2>, crowded {
  void before() { fill_up(); }
  void thread(unsigned self) {
    take_touch_give(self + 1);
    take_at_touch_give(62, 1);
  }
  void after() { coalesced(); }
};

struct three_takers : rl::test_suite<three_takers, 3>, crowded {
  void before() { fill_up(); }
  void thread(unsigned self) {
    take_touch_give(self == 0 ? 2 : 1);
    take_touch_give(self == 1 ? 2 : 1);
    take_at_touch_give(61, 2);
  }
  void after() { coalesced(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<two_takers>({.title = "run_bitmap: two takers", .how = search::complete, .floor = 1'000});
  ok &= passes<three_takers>(
      {.title = "run_bitmap: three takers", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &= passes<three_takers>({.title = "run_bitmap: three takers", .executions = 30'000});
  return ok ? 0 : 1;
}
