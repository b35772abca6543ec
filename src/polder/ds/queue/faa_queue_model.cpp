// faa_queue under the model checker: first in first out from segment to segment, none is left in a queue that says empty, nothing
// read that was freed. What putter and getter of a cell do is claimed_cells_model.cpp's.
#include <polder/ds/queue/faa_queue.hpp>

#include "explore.hpp"
#include "in_order.hpp"
#include "linked_worlds.hpp"
#include "structures.hpp"

namespace {

using polder::model::key;

using keeping = polder::model::keeping<3, 1, 8>;
using regions = polder::model::regions<3, 1, 8>;
using hazards = polder::model::hazards<3, 1, 8>;

struct two_cells {
  template <class>
  static constexpr std::size_t cells = 2;
  static constexpr unsigned looks = 1;
};

template <class R, unsigned Threads>
struct world {
  using queue_of = polder::ds::faa_queue<key, R, polder::ds::heap_memory, two_cells>;
  static_assert(queue_of::cells == 2);

  typename R::domain domain;
  queue_of queue{domain};
  polder::model::in_order<Threads> seen;

  void put(unsigned self) { queue.enqueue(seen.next_of(self)); }
  bool get(unsigned self) { return seen.got(self, queue.dequeue()); }
  void comes_out() {
    seen.rest([&] { return queue.dequeue(); });
  }
};

}  // namespace

int main() {
  using polder::model::both_go_on, polder::model::both_put, polder::model::goes_on, polder::model::leaves_one,
      polder::model::tail_is_behind;
  using polder::model::passes, polder::model::search;
  bool ok = true;
  // What the light fence orders, where it is one, is not what the edges do.
  constexpr auto without_fences = polder::model::membarrier_world::systemwide;
  ok &= passes<goes_on<world<keeping, 2>>>({.title = "segments: the next",
                                            .how = search::bounded,
                                            .floor = 100,
                                            .switches = 1,
                                            .world = without_fences});
  ok &= passes<leaves_one<world<keeping, 2>>>({.title = "segments: never empty",
                                               .how = search::bounded,
                                               .floor = 100,
                                               .switches = 2,
                                               .world = without_fences});
  ok &= passes<both_put<world<keeping, 2>>>(
      {.title = "segments: both put", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both_go_on<world<keeping, 2>>>({.title = "segments: both", .executions = 20'000});
  ok &= passes<both_go_on<world<hazards, 2>>>({.title = "segments, hazards: both", .executions = 20'000});
  ok &= passes<tail_is_behind<world<regions, 3>>>({.title = "segments, regions: tail is behind",
                                                   .how = search::bounded,
                                                   .floor = 100,
                                                   .switches = 2,
                                                   .in_short = 1});
  return ok ? 0 : 1;
}
