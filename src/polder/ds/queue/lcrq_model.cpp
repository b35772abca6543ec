// lcrq under the model checker: first in first out from ring to ring, nothing lost with a ring, nothing read that was freed.
// What goes on inside a ring is crq_model.cpp's.
#include <polder/ds/queue/lcrq.hpp>

#include <optional>

#include "explore.hpp"
#include "in_order.hpp"
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

// The ring is full: one goes on to the next, puts and gets, and the other follows by what it is told of that.
template <class R>
struct next_ring : rl::test_suite<next_ring<R>, 2>, world<R, 2> {
  void before() {
    this->put(0);
    this->put(0);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0);
      for (int times = 0; times != 3; ++times) this->get(0);
    } else {
      this->get(1);
      this->put(1);
    }
  }
  void after() { this->comes_out(); }
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

// Both need a new one, and both get: there is something for each.
template <class R>
struct both : rl::test_suite<both<R>, 2>, world<R, 2> {
  void before() {
    this->put(0);
    this->put(1);
  }
  void thread(unsigned self) {
    this->put(self);
    POLDER_MODEL_CHECK(this->get(self));
    POLDER_MODEL_CHECK(this->get(self));
  }
  void after() { this->comes_out(); }
};

// One links and stalls, one leaves the ring, and one puts by what it then sees of tail: it must not be the ring that is freed
// when the first one has gone on.
struct tail_is_behind : rl::test_suite<tail_is_behind, 3>, world<regions, 3> {
  bool left = false, through = false;

  static void wait_for(const bool& is_so) {
    while (!is_so) rl::yield(1, polder::model::info(polder::model::place::current()));
  }
  void before() {
    put(0);
    put(0);
  }
  void thread(unsigned self) {
    if (self == 0) {
      put(0);
      through = true;
    } else if (self == 1) {
      for (int times = 0; times != 3; ++times) get(1);
      left = true;
      wait_for(through);
      get(1);
    } else {
      wait_for(left);
      put(2);
    }
  }
  void after() { comes_out(); }
};

}  // namespace

int main() {
  using polder::model::passes;
  using polder::model::search;
  bool ok = true;
  ok &=
      passes<next_ring<keeping>>({.title = "rings: the next", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<filled_late>({.title = "rings: filled late", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<both<keeping>>({.title = "rings: both", .executions = 20'000});
  ok &= passes<both<hazards>>({.title = "rings, hazards: both", .executions = 20'000});
  ok &= passes<tail_is_behind>({.title = "rings, regions: tail is behind",
                                .how = search::bounded,
                                .floor = 100,
                                .switches = 2,
                                .in_short = 1});
  return ok ? 0 : 1;
}
