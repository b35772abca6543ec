// epoch_clock under the model checker: what is freed at announcement + 3 is read by nobody, whoever moves the epoch.
#include <polder/smr/epoch/epoch_clock.hpp>

#include "explore.hpp"
#include "model_fences.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::smr::epoch_clock;

// One object, reachable through `shared`. Freeing it is writing to it: whoever reads it then is a race.
struct world {
  epoch_clock clock;
  epoch_clock::seat seats[3];
  atomic<int> shared;
  plain<int> object;
  polder::model::fences fences;

  void start() {
    object.set(1);
    shared.store(1, order::relaxed);
  }
  void read(unsigned self) {
    const std::uint64_t mine = clock.enter(seats[self], fences);
    if (shared.load(order::acquire) != 0) {
      polder::model::pause_point();
      POLDER_MODEL_CHECK(object.get() == 1);
    }
    clock.leave(seats[self], mine);
  }
  // Returns the tag under which the object is retired.
  std::uint64_t unlink(unsigned self) {
    const std::uint64_t mine = clock.enter(seats[self], fences);
    shared.store(0, order::release);
    clock.leave(seats[self], mine);
    return mine;
  }
  void sweep(unsigned self, unsigned members) {
    const std::uint64_t e = clock.enter(seats[self], fences);
    look_at(members, e);
    clock.leave(seats[self], e);
  }
  // True: e is over.
  bool look_at(unsigned members, std::uint64_t e, bool outside_counts = true) {
    if (!clock.before_sweep(e, fences)) return false;
    for (unsigned m = 0; m != members; ++m) {
      if (!(outside_counts ? epoch_clock::passed(seats[m], e) : epoch_clock::announced(seats[m], e))) return false;
    }
    clock.advance(e);
    return true;
  }
  void free_if_safe(unsigned self, std::uint64_t tag) {
    const std::uint64_t now = clock.enter(seats[self], fences);
    if (now >= tag + epoch_clock::lag) object.set(2);
    clock.leave(seats[self], now);
  }
};

struct one_reclaims : rl::test_suite<one_reclaims, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      read(0);
      read(0);
    } else {
      const std::uint64_t tag = unlink(1);
      for (int n = 0; n != 3; ++n) sweep(1, 2);
      free_if_safe(1, tag);
    }
  }
};

// The second sweeps as well: its fence serves the first, and its advances.
struct two_sweep : rl::test_suite<two_sweep, 3>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      read(0);
    } else if (self == 1) {
      const std::uint64_t tag = unlink(1);
      for (int n = 0; n != 3; ++n) sweep(1, 3);
      free_if_safe(1, tag);
    } else {
      sweep(2, 3);
      sweep(2, 3);
      read(2);
    }
  }
};

// As late as it can be: the epoch moves on while the unlinker is inside, and the fence of the next is passed before it
// unlinks. So no fence lies between that and the epoch in which a reader must not find the object; and none between the
// last look at a reader and the free. One thread plays the unlinker, seat 1, and the sweeper, without a seat.
template <bool OutsideCounts>
struct unlinked_late : rl::test_suite<unlinked_late<OutsideCounts>, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      read(0);
      for (int n = 0; !OutsideCounts && n != 2; ++n) clock.leave(seats[0], clock.enter(seats[0], fences));
      return;
    }
    const std::uint64_t mine = clock.enter(seats[1], fences);
    bool over = look(mine) && !look(mine + 1);
    shared.store(0, order::release);
    clock.leave(seats[1], mine);
    if (!OutsideCounts) clock.leave(seats[1], clock.enter(seats[1], fences));
    over = over && look(mine + 1);
    if (!OutsideCounts) clock.leave(seats[1], clock.enter(seats[1], fences));
    if (over && look(mine + 2)) object.set(2);
  }
  bool look(std::uint64_t e) { return look_at(2, e, OutsideCounts); }
};

// As synchronize() does it, from outside, while another moves the epoch as well.
struct waits_for_two_epochs : rl::test_suite<waits_for_two_epochs, 3>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      read(0);
    } else if (self == 1) {
      shared.store(0, order::release);
      if (!fences.heavy()) return;
      const std::uint64_t until = clock.now() + 2;
      for (int n = 0; n != 4; ++n) {
        const std::uint64_t e = clock.now();
        if (e >= until) return object.set(2);
        look_at(3, e);
      }
    } else {
      sweep(2, 3);
    }
  }
};

// The invariant, whoever is held up while it enters.
struct held_up : rl::test_suite<held_up, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      const std::uint64_t mine = clock.enter(seats[0], fences);
      POLDER_MODEL_CHECK(clock.now() <= mine + 1);
      clock.leave(seats[0], mine);
    } else {
      for (int n = 0; n != 3; ++n) sweep(1, 2);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds) {
    ok &= passes<one_reclaims>(
        {.title = "a reader, a reclaimer", .how = search::bounded, .floor = 1000, .switches = 3, .world = w});
    ok &= passes<one_reclaims>({.title = "a reader, a reclaimer", .executions = 60'000, .world = w});
    ok &= passes<held_up>(
        {.title = "held up while it enters", .how = search::bounded, .floor = 100, .switches = 3, .world = w});
    ok &= passes<unlinked_late<true>>(
        {.title = "unlinked late", .how = search::bounded, .floor = 100, .switches = 4, .world = w});
    ok &= passes<unlinked_late<false>>({.title = "unlinked late, outside does not count",
                                        .how = search::bounded,
                                        .floor = 100,
                                        .switches = 3,
                                        .world = w});
    ok &= passes<waits_for_two_epochs>({.title = "waits for two epochs", .executions = 60'000, .world = w});
    ok &= passes<two_sweep>({.title = "a reader, a reclaimer, another sweeper", .executions = 60'000, .world = w});
  }
  return ok ? 0 : 1;
}
