// vyukov_ring under the model checker: every element once, whole, in order, and none is left in a ring that says empty.
#include <polder/ds/queue/vyukov_ring.hpp>

#include "explore.hpp"
#include "ring_worlds.hpp"
#include "watched_room.hpp"

namespace {

using ring = polder::ds::vyukov_ring<polder::model::lodger, void, polder::model::watched_room>;

struct two_cells : ring {
  two_cells() : ring(2) {}
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<meeting<two_cells>>(
      {.title = "vyukov_ring: one put, one get", .how = search::bounded, .floor = 50, .switches = 2});
  ok &= passes<one_each_way<two_cells>>({.title = "vyukov_ring: one each way", .executions = 10'000});
  ok &= passes<crossing<two_cells>>({.title = "vyukov_ring: both ways each", .executions = 10'000});
  ok &= passes<three<two_cells>>({.title = "vyukov_ring: three threads", .executions = 10'000});
  return ok ? 0 : 1;
}
