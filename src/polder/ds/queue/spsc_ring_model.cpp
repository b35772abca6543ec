// spsc_ring under the model checker: every element once, whole, in order, round the ring, one by one and many at once.
#include <polder/ds/queue/spsc_ring.hpp>

#include "explore.hpp"
#include "ring_worlds.hpp"
#include "watched_room.hpp"

namespace {

using polder::model::lodger;

struct two_cells : polder::ds::spsc_ring<lodger, void, polder::model::watched_room> {
  two_cells() : spsc_ring(2) {}
};

// Two at once, and once more: the second time both cells had others before.
struct in_bulk : rl::test_suite<in_bulk, 2> {
  two_cells ring;
  int put_ = 0, got_ = 0;  // how many; numbers are from 1

  void put() {
    lodger some[] = {lodger(put_ + 1), lodger(put_ + 2)};
    put_ += int(ring.put_bulk(some, 2));
  }
  void get() {
    lodger some[] = {lodger(0), lodger(0)};
    const std::size_t n = ring.get_bulk(some, 2);
    for (std::size_t i = 0; i != n; ++i) POLDER_MODEL_CHECK(some[i].number.get() == ++got_);
  }
  void thread(unsigned self) {
    for (int times = 0; times != 3; ++times) self == 0 ? put() : get();
  }
  void after() {
    get();
    POLDER_MODEL_CHECK(got_ == put_);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<one_each_way<two_cells>>(
      {.title = "spsc_ring: one by one", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<in_bulk>({.title = "spsc_ring: many at once", .how = search::bounded, .floor = 100, .switches = 3});
  return ok ? 0 : 1;
}
