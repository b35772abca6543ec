// owned_backends under the model checker: threads come late, leave and are followed by others of their numbers, and no get
// finds nothing while there is something, nor is an element lost.
#include <polder/ds/parts/owned_backends.hpp>

#include <cstddef>
#include <memory>
#include <optional>

#include <polder/ds/parts/single_scan.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/stack/treiber_stack.hpp>
#include <polder/smr/held_numbers.hpp>

#include "explore.hpp"
#include "standing.hpp"
#include "structures.hpp"

// Relacy has operators new and delete of its own, but for this one.
void operator delete[](void* p, std::size_t) noexcept { operator delete[](p); }

namespace {

using polder::ds::exact_scan;
using polder::ds::single_scan;
using polder::model::must_fail;
using polder::model::passes;
using polder::model::search;

using polder::model::standing;

using keeping = polder::model::pausing<polder::model::keeping<4, 2, 12>>;

// A number whose reads and writes are checked for races, and which moves.
struct element {
  polder::plain<int> n;
  explicit element(int i) : n(i) {}
  element(element&& other) noexcept : n(other.n.get()) {}
};

using queue = polder::ds::ms_queue<element, keeping, polder::ds::heap_memory, polder::ds::counted_place>;
using stack = polder::ds::treiber_stack<element, keeping>;

template <class Backend, class Scan = exact_scan>
struct world {
  using all_backends = polder::ds::owned_backends<Backend, 2>;
  keeping::domain domain;
  std::optional<all_backends> all;
  // As smr/thread_slot.hpp has them: what the last holder of a number did, the next one knows.
  polder::smr::held_numbers<63> numbers;
  int got[3] = {};

  void open() { all.emplace(); }
  // In the execution's last thread, so that its edges are the checker's too.
  void close(int put) {
    standing::end();
    int sum = 0;
    for (const int g : got) sum += g;
    while (const std::optional<element> e = all->template remove<exact_scan>(0, first)) sum += e->n.get();
    POLDER_MODEL_CHECK(sum == put);
    all.reset();
  }

  static std::size_t first(unsigned) { return 0; }

  unsigned comes() { return numbers.take(); }
  void ends(unsigned n) {
    all->leave(n);
    numbers.give(n);
  }
  void put(unsigned number, int n) {
    std::unique_ptr<Backend> fresh;
    Backend* b = all->own(number, fresh);
    if (b == nullptr) {
      fresh = std::make_unique<Backend>(domain);
      b = all->own(number, fresh);
    }
    element e(n);
    b->insert(e);
  }
  bool get(unsigned self) {
    const std::optional<element> e = all->template remove<Scan>(0, first);
    if (e) got[self] += e->n.get();
    return e.has_value();
  }
  // From the backend of this number, or from another.
  void take(unsigned self, unsigned number) {
    if (const std::optional<element> e = all->template remove<single_scan>(number, first)) got[self] += e->n.get();
  }
};

// A thread that comes late puts where a get has not looked, and takes where it will look.
template <class Backend, class Scan>
struct comes_late : rl::test_suite<comes_late<Backend, Scan>, 2>, world<Backend, Scan> {
  void before() {
    this->open();
    this->put(this->comes(), 1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(this->comes(), 10);
      this->take(0, 1);
    } else {
      POLDER_MODEL_CHECK(this->get(1));
    }
  }
  void after() { this->close(11); }
};

// As before, of a place that was used; and who put leaves again, with an element inside or without.
template <class Backend, class Scan>
struct comes_and_ends : rl::test_suite<comes_and_ends<Backend, Scan>, 2>, world<Backend, Scan> {
  void before() {
    this->open();
    const unsigned one = this->comes(), two = this->comes();
    this->put(two, 1);
    this->put(one, 2);
    this->take(2, one);
    this->ends(one);
    standing::begin(2);
  }
  void thread(unsigned self) {
    if (self == 0) {
      const unsigned n = this->comes();
      this->put(n, 10);
      this->take(0, 2);
      this->ends(n);
    } else {
      POLDER_MODEL_CHECK(this->get(1));
      this->get(1);
    }
    standing::through(self);
  }
  void after() { this->close(13); }
};

// One ends, one comes and may get its number, one gets: what the first put is there all the time.
template <class Backend>
struct handed_over : rl::test_suite<handed_over<Backend>, 3>, world<Backend> {
  void before() {
    this->open();
    this->put(this->comes(), 1);
    standing::begin(3);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->ends(1);
    } else if (self == 1) {
      const unsigned n = this->comes();
      this->put(n, 10);
      this->ends(n);
    } else {
      POLDER_MODEL_CHECK(this->get(2));
      this->get(2);
    }
    standing::through(self);
  }
  void after() { this->close(11); }
};

// A get hears of a late thread's put only through one who took in between.
template <class Backend>
struct heard_of : rl::test_suite<heard_of<Backend>, 3>, world<Backend> {
  void before() {
    this->open();
    const unsigned one = this->comes();
    this->put(one, 1);
    this->put(one, 2);
    standing::begin(3);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(this->comes(), 10);
      this->take(0, 1);
    } else if (self == 1) {
      this->take(1, 1);
    } else {
      POLDER_MODEL_CHECK(this->get(2));
    }
    standing::through(self);
  }
  void after() { this->close(13); }
};

// Or through one who found the place empty, and passed it over. They come one after the other, but know no more of that than
// the structure tells them.
template <class Backend>
struct passed_over : rl::test_suite<passed_over<Backend>, 3>, world<Backend> {
  unsigned turn = 0;

  void before() {
    this->open();
    const unsigned one = this->comes();
    this->put(one, 1);
    this->ends(one);
  }
  void thread(unsigned self) {
    while (turn != self) rl::yield(1, polder::model::info(polder::model::place::current()));
    if (self == 0) {
      this->put(2, 10);
      this->put(2, 100);
      this->take(0, 1);
    } else {
      POLDER_MODEL_CHECK(this->get(self));
    }
    ++turn;
  }
  void after() { this->close(111); }
};

// Two need the same row, and a third one looks for it.
template <class Backend>
struct one_row : rl::test_suite<one_row<Backend>, 3>, world<Backend> {
  void before() {
    this->open();
    standing::begin(3);
  }
  void thread(unsigned self) {
    if (self == 2) this->get(2);
    else this->put(2 + self, self == 0 ? 1 : 10);
    standing::through(self);
  }
  void after() { this->close(11); }
};

template <class Backend>
bool of(const char* late, const char* again, const char* over, const char* heard, const char* passed) {
  bool ok = true;
  ok &=
      passes<comes_late<Backend, exact_scan>>({.title = late, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<comes_and_ends<Backend, exact_scan>>({.title = again, .executions = 20'000});
  ok &= passes<handed_over<Backend>>({.title = over, .executions = 20'000});
  ok &= passes<heard_of<Backend>>({.title = heard, .executions = 20'000});
  ok &= passes<passed_over<Backend>>({.title = passed, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= of<queue>("own queues: late", "own queues: comes and ends", "own queues: handed over",
                  "own queues: heard of", "own queues: passed over");
  ok &= of<stack>("own stacks: late", "own stacks: comes and ends", "own stacks: handed over",
                  "own stacks: heard of", "own stacks: passed over");
  ok &= passes<one_row<queue>>({.title = "own queues: one row", .executions = 10'000});
  // One pass is not enough.
  ok &= must_fail<comes_late<queue, single_scan>>(
      {.title = "own queues, looked through once", .how = search::bounded});
  return ok ? 0 : 1;
}
