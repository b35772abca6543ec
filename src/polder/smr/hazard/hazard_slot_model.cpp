// hazard_slot under the model checker: what protect() returned is not freed while it stands in its slot, and what was read
// of it was read before whoever frees it looked.
#include <polder/smr/hazard/hazard_slot.hpp>

#include "explore.hpp"
#include "model_fences.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;
using polder::smr::hazard_slot;

// Objects 1, 2, … are reachable through `shared`; 0 is none. Freeing one is writing to it: whoever reads it then races.
struct world {
  hazard_slot slots[2];
  atomic<int> shared;
  plain<int> objects[4];
  polder::model::fences fences;

  const void* at(int n) const { return n == 0 ? nullptr : &objects[n]; }
  void start() {
    objects[1].set(1);
    shared.store(1, order::relaxed);
  }
  int protect(unsigned slot) {
    return slots[slot].protect(shared, fences, [this](int n) { return at(n); });
  }
  void look_at(int n) {
    if (n == 0) return;
    polder::model::pause_point();
    POLDER_MODEL_CHECK(objects[n].get() == n);
  }
  // Unlinks what is there, puts something in its place, and frees it if no slot names it.
  void replace(int by, unsigned slots_there) {
    if (by != 0) objects[by].set(by);
    const int old = shared.exchange(by, order::acq_rel);
    if (old == 0 || !fences.heavy()) return;
    for (unsigned s = 0; s != slots_there; ++s) {
      if (slots[s].read() == at(old)) return;
    }
    objects[old].set(-1);
  }
};

struct reader_and_reclaimer : rl::test_suite<reader_and_reclaimer, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      look_at(protect(0));
      look_at(protect(0));  // the first one's protection ends here
      slots[0].clear();
    } else {
      replace(2, 1);
      replace(3, 1);
    }
  }
};

struct two_readers : rl::test_suite<two_readers, 3>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self < 2) {
      look_at(protect(self));
      slots[self].clear();
    } else {
      replace(2, 2);
      replace(0, 2);
    }
  }
};

// An object that is private may be put into a slot before others can unlink it.
struct published_before_it_is_linked : rl::test_suite<published_before_it_is_linked, 2>, world {
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      objects[2].set(2);
      slots[0].publish(at(2));
      shared.exchange(2, order::acq_rel);
      look_at(2);
      slots[0].clear();
    } else {
      replace(3, 1);
    }
  }
};

// Why a guard gives one slot two names (smr/slot_map.hpp): a pointer that moves to a slot that was looked at already is
// seen in neither.
struct moved_from_slot_to_slot : rl::test_suite<moved_from_slot_to_slot, 2>, world {
  atomic<int> freed{0};
  void before() { start(); }
  void thread(unsigned self) {
    if (self == 0) {
      const int seen = protect(1);
      slots[0].publish(at(seen));
      slots[1].clear();
      if (seen == 1) POLDER_MODEL_CHECK(freed.load(order::relaxed) == 0);
    } else {
      shared.exchange(0, order::acq_rel);
      if (fences.heavy() && slots[0].read() != at(1) && slots[1].read() != at(1)) freed.store(1, order::relaxed);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  for (const membarrier_world w : worlds) {
    ok &= passes<reader_and_reclaimer>(
        {.title = "hazard: reader and reclaimer", .how = search::bounded, .floor = 500, .switches = 4, .world = w});
    ok &= passes<reader_and_reclaimer>({.title = "hazard: reader and reclaimer", .executions = 60'000, .world = w});
    ok &= passes<two_readers>(
        {.title = "hazard: two readers", .how = search::bounded, .floor = 1000, .switches = 3, .world = w});
    ok &= passes<two_readers>({.title = "hazard: two readers", .executions = 60'000, .world = w});
    ok &= passes<published_before_it_is_linked>({.title = "hazard: published before it is linked",
                                                 .how = search::bounded,
                                                 .floor = 10,
                                                 .switches = 4,
                                                 .world = w});
    ok &= must_fail<moved_from_slot_to_slot>(
        {.title = "hazard: moved from slot to slot", .how = search::bounded, .switches = 3, .world = w});
  }
  return ok ? 0 : 1;
}
