// lcrq under the model checker: first in first out from ring to ring, nothing lost with a ring, nothing read that was freed.
// What goes on inside a ring is crq_model.cpp's.
#include <polder/ds/queue/lcrq.hpp>

#include <optional>

#include "explore.hpp"
#include "in_order.hpp"
#include "linked_worlds.hpp"
#include "ring_worlds.hpp"
#include "structures.hpp"

namespace {

using polder::plain;
using polder::model::key;

using keeping = polder::model::keeping<3, 1, 8>;
using regions = polder::model::regions<3, 1, 8>;
using hazards = polder::model::hazards<3, 1, 8>;

// An element is a box's number; what lies in a box is written before it is put, and read when it came out. Rings of two.
template <class R, unsigned Threads>
struct world {
  typename R::domain domain;
  polder::ds::lcrq<int, R, polder::model::apart> queue{domain, 2};
  polder::model::in_order<Threads> seen;
  plain<int> written[10 * (Threads + 1)];

  void put(unsigned self) {
    const int n = seen.next_of(self).value();
    written[n].set(n);
    queue.enqueue(n);
  }
  std::optional<key> take() {
    const std::optional<int> n = queue.dequeue();
    if (!n) return std::nullopt;
    return key(written[*n].get());
  }
  bool get(unsigned self) { return seen.got(self, take()); }
  void comes_out() {
    seen.rest([&] { return take(); });
  }
};

// One finds the ring empty, the other fills it and goes on to the next: what is in it must not go with it.
struct filled_late : rl::test_suite<filled_late, 2>, world<keeping, 2> {
  void thread(unsigned self) {
    if (self == 0) {
      for (int times = 0; times != 3; ++times) put(0);
    } else {
      get(1);
    }
  }
  void after() { comes_out(); }
};

}  // namespace

int main() {
  using polder::model::both_go_on, polder::model::goes_on, polder::model::tail_is_behind;
  using polder::model::passes, polder::model::search;
  bool ok = true;
  ok &= passes<goes_on<world<keeping, 2>>>(
      {.title = "rings: the next", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<filled_late>({.title = "rings: filled late", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<both_go_on<world<keeping, 2>>>({.title = "rings: both", .executions = 20'000});
  ok &= passes<both_go_on<world<hazards, 2>>>({.title = "rings, hazards: both", .executions = 20'000});
  ok &= passes<tail_is_behind<world<regions, 3>>>({.title = "rings, regions: tail is behind",
                                                   .how = search::bounded,
                                                   .floor = 100,
                                                   .switches = 2,
                                                   .in_short = 1});
  return ok ? 0 : 1;
}
