// random_dequeue_queue under the model checker: nothing lost, none overtaken by more than may be, none left in a queue that says
// empty, nothing read that was freed.
#include <polder/ds/queue/random_dequeue_queue.hpp>

#include <optional>

#include "explore.hpp"
#include "in_order.hpp"
#include "linked_worlds.hpp"
#include "structures.hpp"

namespace {

using polder::model::key;

using keeping = polder::model::keeping<3, 4, 10>;
using regions = polder::model::regions<3, 4, 10>;
using hazards = polder::model::hazards<3, 4, 10>;

template <class R, unsigned Factor>
struct queue_of {
  typename R::domain domain;
  polder::ds::random_dequeue_queue<key, R> queue{domain, Factor, 1};
};

// Of a quasi factor of one: a queue.
template <class R, unsigned Threads>
struct in_turn : queue_of<R, 1> {
  polder::model::in_order<Threads> seen;

  void put(unsigned self) { this->queue.enqueue(seen.next_of(self)); }
  bool get(unsigned self) { return seen.got(self, this->queue.dequeue()); }
  void comes_out() {
    seen.rest([&] { return this->queue.dequeue(); });
  }
};

// Of more: in any order.
template <class R, unsigned Threads, unsigned Factor = 2>
struct at_random : queue_of<R, Factor> {
  int put_[Threads] = {}, got_[Threads] = {};  // sums

  void put(unsigned self) {
    const int n = 1 << 4 * self;
    put_[self] += n;
    this->queue.enqueue(key(n));
  }
  bool get(unsigned self) {
    const std::optional<key> k = this->queue.dequeue();
    if (k) got_[self] += k->value();
    return k.has_value();
  }
  void comes_out() {
    while (get(0)) {
    }
    int sum = 0;
    for (unsigned t = 0; t != Threads; ++t) sum += put_[t] - got_[t];
    POLDER_MODEL_CHECK(sum == 0);
  }
};

// Each passes over one older element at most, and is itself passed over once at most.
struct overtaking : rl::test_suite<overtaking, 2>, queue_of<keeping, 2> {
  bool out[5] = {};
  int passed[5] = {};  // how often, of each number

  void get() {
    const std::optional<key> k = queue.dequeue();
    const int n = k ? k->value() : 0;
    POLDER_MODEL_CHECK(n != 0 && !out[n]);
    out[n] = true;
    int older = 0;
    for (int o = 1; o != n; ++o) {
      if (out[o]) continue;
      ++older;
      POLDER_MODEL_CHECK(++passed[o] == 1);
    }
    POLDER_MODEL_CHECK(older <= 1);
  }
  void before() {
    for (int n = 1; n != 4; ++n) queue.enqueue(key(n));
  }
  void thread(unsigned self) {
    if (self == 0) queue.enqueue(key(4));
    else get();
  }
  void after() {
    for (int rest = 3; rest != 0; --rest) get();
    POLDER_MODEL_CHECK(!queue.dequeue());
  }
};

// Two nodes that are taken lie between the two that are not, and both look as far as they may.
struct between_taken : rl::test_suite<between_taken, 2>, at_random<hazards, 2, 3> {
  void before() {
    polder::ds::random::always_last = true;
    for (int times = 0; times != 4; ++times) put(0);
    POLDER_MODEL_CHECK(get(0) && get(0));
  }
  void thread(unsigned self) { POLDER_MODEL_CHECK(get(self)); }
  void after() {
    comes_out();
    polder::ds::random::always_last = false;
  }
};

}  // namespace

int main() {
  using polder::model::both_go_on, polder::model::goes_on, polder::model::leaves_one, polder::model::tail_is_behind;
  using polder::model::passes, polder::model::search;
  bool ok = true;
  ok &= passes<goes_on<in_turn<keeping, 2>>>(
      {.title = "picks, of one: the next", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<leaves_one<at_random<keeping, 2>>>(
      {.title = "picks: never empty", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<overtaking>({.title = "picks: overtaking", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<both_go_on<at_random<keeping, 2>>>({.title = "picks: both", .executions = 20'000});
  ok &= passes<both_go_on<at_random<hazards, 2>>>({.title = "picks, hazards: both", .executions = 20'000});
  ok &= passes<between_taken>(
      {.title = "picks of three, hazards: between taken", .how = search::bounded, .floor = 100, .switches = 1});
  ok &= passes<tail_is_behind<in_turn<regions, 3>>>({.title = "picks, of one, regions: tail is behind",
                                                     .how = search::bounded,
                                                     .floor = 100,
                                                     .switches = 2,
                                                     .in_short = 1});
  return ok ? 0 : 1;
}
