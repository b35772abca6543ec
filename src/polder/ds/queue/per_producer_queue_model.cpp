// per_producer_queue under the model checker: of each putter in order, from segment to segment, none left in a queue that says
// empty, nothing read that was freed.
#include <polder/ds/queue/per_producer_queue.hpp>

#include <cstddef>
#include <optional>

#include "explore.hpp"
#include "in_order.hpp"
#include "linked_worlds.hpp"
#include "ring_worlds.hpp"
#include "structures.hpp"

namespace {

using polder::model::key;

using keeping = polder::model::keeping<3, 1, 10>;
using hazards = polder::model::hazards<3, 1, 10>;

struct two_cells {
  template <class>
  static constexpr std::size_t cells = 2;
};

template <class R, unsigned Threads>
struct world {
  typename R::domain domain;
  polder::ds::per_producer_queue<key, R, polder::model::apart, two_cells> queue{domain};
  polder::model::in_order<Threads> seen;

  // Before the threads begin it is one of them that puts: the lane is its own.
  key next() { return seen.next_of(unsigned(rl::ctx().current_thread())); }
  void put(unsigned) { queue.enqueue(next()); }
  void put_three() {
    key some[] = {next(), next(), next()};
    POLDER_MODEL_CHECK(queue.put_bulk(some, 3) == 3);
  }
  bool get(unsigned self) { return seen.got(self, queue.dequeue()); }
  void comes_out() {
    seen.rest([&] { return queue.dequeue(); });
  }
};

// Through two segments at once.
template <class R>
struct in_bulk : rl::test_suite<in_bulk<R>, 2>, world<R, 2> {
  void thread(unsigned self) {
    if (self == 0) {
      this->put_three();
    } else {
      for (int times = 0; times != 3; ++times) this->get(1);
    }
  }
  void after() { this->comes_out(); }
};

// One puts into a new segment, the other goes on to it.
struct next_segment : rl::test_suite<next_segment, 2>, world<keeping, 2> {
  void before() {
    put(0);
    put(0);
    get(0);
  }
  void thread(unsigned self) {
    if (self == 0) put(0);
    get(self);
    get(self);
  }
  void after() { comes_out(); }
};

// Two get what one puts, and one of them goes on to the next segment for all.
template <class R>
struct three : rl::test_suite<three<R>, 3>, world<R, 3> {
  void before() {
    this->put(0);
    this->put(0);
  }
  void thread(unsigned self) {
    if (self == 0) this->put(0);
    this->get(self);
    if (self != 0) this->get(self);
  }
  void after() { this->comes_out(); }
};

}  // namespace

int main() {
  using polder::model::both_put, polder::model::leaves_one;
  using polder::model::passes, polder::model::search;
  bool ok = true;
  ok &= passes<next_segment>(
      {.title = "lanes: the next segment", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<leaves_one<world<keeping, 2>>>(
      {.title = "lanes: never empty", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<both_put<world<keeping, 2>>>(
      {.title = "lanes: both put", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<in_bulk<keeping>>({.title = "lanes: in bulk", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<three<keeping>>({.title = "lanes: three", .executions = 8'000});
  ok &= passes<three<hazards>>({.title = "lanes, hazards: three", .executions = 4'000});
  return ok ? 0 : 1;
}
