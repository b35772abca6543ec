// rts_queue under the model checker: who has a ticket finds an element, without end only if there is none, and each comes out once;
// at rest in order.
#include <polder/ds/queue/rts_queue.hpp>

#include <cstddef>
#include <optional>

#include "explore.hpp"
#include "in_order.hpp"
#include "structures.hpp"

// Relacy has operators new and delete of its own, but for this one.
void operator delete[](void* p, std::size_t) noexcept { operator delete[](p); }

namespace {

using polder::model::key;

using keeping = polder::model::keeping<3, 4, 10>;
using hazards = polder::model::hazards<2, 4, 10>;

template <class R>
struct world {
  typename R::domain domain;
  polder::ds::rts_queue<key, R> queue{domain};
  polder::model::in_order<2> seen;  // of each putter, since each has a buffer

  void put(unsigned self) { queue.enqueue(seen.next_of(self)); }
  bool get(unsigned self) { return seen.got(self, queue.dequeue()); }
  void comes_out() {
    seen.rest([&] { return queue.dequeue(); });
  }
};

// One knows of the other's puts only by what was counted.
template <class R>
struct follows : rl::test_suite<follows<R>, 2>, world<R> {
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0);
      this->put(0);
      this->get(0);
      this->get(0);
    } else {
      this->get(1);
    }
  }
  void after() { this->comes_out(); }
};

// Who has put finds something, since each takes once.
template <class R>
struct both : rl::test_suite<both<R>, 2>, world<R> {
  void thread(unsigned self) {
    this->put(self);
    POLDER_MODEL_CHECK(this->get(self));
  }
  void after() { this->comes_out(); }
};

// What was there before anybody began leaves before what is put meanwhile, though a get comes to that first.
struct at_rest : rl::test_suite<at_rest, 3>, world<keeping> {
  // 0: nothing.
  int next() {
    const std::optional<key> e = queue.dequeue();
    return e ? e->value() : 0;
  }
  void before() { queue.enqueue(key(1)); }  // the first thread's
  void thread(unsigned self) {
    if (self == 1) POLDER_MODEL_CHECK(next() == 1);
    if (self == 2) queue.enqueue(key(2));
  }
  void after() { POLDER_MODEL_CHECK(next() == 2 && next() == 0); }
};

}  // namespace

int main() {
  using polder::model::passes, polder::model::search;
  bool ok = true;
  ok &= passes<follows<keeping>>(
      {.title = "rts queue: counted", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<at_rest>({.title = "rts queue: at rest", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<both<hazards>>({.title = "rts queue, hazards: both", .executions = 20'000});
  return ok ? 0 : 1;
}
