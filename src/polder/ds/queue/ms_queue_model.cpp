// ms_queue under the model checker: first in first out, nothing lost, nothing read that was freed.
#include "explore.hpp"

#include <polder/base/check.hpp>
#undef POLDER_CHECK
#define POLDER_CHECK(level, ...) POLDER_MODEL_CHECK(__VA_ARGS__)
#include <polder/ds/queue/ms_queue.hpp>

#include "in_order.hpp"
#include "structures.hpp"

namespace {

using polder::model::key;

using keeping = polder::model::keeping<3, 2, 8>;
using regions = polder::model::regions<3, 2, 8>;
using hazards = polder::model::hazards<3, 2, 8>;

template <class R, unsigned Threads>
struct world {
  typename R::domain domain;
  polder::ds::ms_queue<key, R> queue{domain};
  polder::model::in_order<Threads> seen;

  void put(unsigned self) { POLDER_MODEL_CHECK(queue.enqueue(seen.next_of(self))); }
  bool get(unsigned self) { return seen.got(self, queue.dequeue()); }
  void comes_out() {
    seen.rest([&] { return queue.dequeue(); });
  }
};

template <class R>
struct put_and_get : rl::test_suite<put_and_get<R>, 2>, world<R, 2> {
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0);
      this->put(0);
    } else {
      this->get(1);
      this->get(1);
    }
  }
  void after() { this->comes_out(); }
};

// Each has put before it gets: there is something for both.
template <class R>
struct both : rl::test_suite<both<R>, 2>, world<R, 2> {
  void thread(unsigned self) {
    this->put(self);
    POLDER_MODEL_CHECK(this->get(self));
  }
  void after() { this->comes_out(); }
};

template <class R>
struct three : rl::test_suite<three<R>, 3>, world<R, 3> {
  void before() { this->put(2); }
  void thread(unsigned self) {
    if (self != 1) this->put(self);
    this->get(self);
    if (self == 1) this->get(self);
  }
  void after() { this->comes_out(); }
};

// Two that take, each maybe with what it saw of tail long ago.
template <class R>
struct tail_is_ahead : rl::test_suite<tail_is_ahead<R>, 3>, world<R, 3> {
  void before() { this->put(2); }
  void thread(unsigned self) {
    if (self == 2) {
      this->put(2);
      this->put(2);
    } else {
      this->get(self);
      this->get(self);
    }
  }
  void after() { this->comes_out(); }
};

// One that links and stalls, one that takes what was linked, and one that puts behind it and stalls too.
template <class R>
struct tail_is_behind : rl::test_suite<tail_is_behind<R>, 3>, world<R, 3> {
  void thread(unsigned self) {
    if (self != 1) {
      this->put(self);
    } else {
      this->get(self);
      this->get(self);
    }
  }
  void after() { this->comes_out(); }
};

template <class R>
bool all(const char* apart, const char* same, const char* of_three, const char* behind, const char* ahead) {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<put_and_get<R>>({.title = apart, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<R>>({.title = same, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<R>>({.title = same, .executions = 20'000});
  ok &= passes<three<R>>({.title = of_three, .executions = 20'000});
  ok &= passes<tail_is_behind<R>>({.title = behind, .executions = 20'000});
  ok &= passes<tail_is_ahead<R>>({.title = ahead, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= all<keeping>("queue: put and get", "queue: both", "queue: three threads", "queue: tail is behind",
                     "queue: tail is ahead");
  ok &= all<regions>("queue, regions: put and get", "queue, regions: both", "queue, regions: three threads",
                     "queue, regions: tail is behind", "queue, regions: tail is ahead");
  ok &= all<hazards>("queue, hazards: put and get", "queue, hazards: both", "queue, hazards: three threads",
                     "queue, hazards: tail is behind", "queue, hazards: tail is ahead");
  return ok ? 0 : 1;
}
