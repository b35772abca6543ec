// exact_scan under the model checker, over two queues and over two stacks: a get may not find nothing while there is
// something, however the elements move meanwhile; and the backends are held to what the scan asks of their orders.
#include <polder/ds/parts/exact_scan.hpp>

#include <optional>
#include <utility>

#include <polder/ds/parts/backends.hpp>
#include <polder/ds/parts/single_scan.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/stack/counted_stack.hpp>
#include <polder/ds/stack/treiber_stack.hpp>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::ds::backends;
using polder::ds::exact_scan;
using polder::ds::single_scan;
using polder::model::must_fail;
using polder::model::passes;
using polder::model::search;

constexpr unsigned guards = 4;
using keeping = polder::model::keeping<guards, 2, 8>;
using hazards = polder::model::hazards<guards, 2, 8>;

// A number whose reads and writes are checked for races, and which moves.
struct element {
  polder::plain<int> n;
  explicit element(int i) : n(i) {}
  element(element&& other) noexcept : n(other.n.get()) {}
};

template <class Kind>
using queue = polder::ds::ms_queue<element, Kind, polder::ds::heap_memory, polder::ds::counted_place>;
template <class Kind>
using counted_stack = polder::ds::counted_stack<element, Kind>;
template <class Kind>
using stack = polder::ds::treiber_stack<element, Kind>;

template <class Kind, template <class> class Backend, class Scan>
struct pair_of {
  typename Kind::domain domain;
  std::optional<backends<Backend<Kind>>> all;
  int got[guards] = {};

  void open() { all.emplace(2, domain); }
  // In the execution's last thread, so that its edges are the checker's too.
  void close(int put) {
    int sum = 0;
    for (const int g : got) sum += g;
    while (const std::optional<element> e = all->template remove<exact_scan>(0)) sum += e->n.get();
    POLDER_MODEL_CHECK(sum == put);
    all.reset();
  }
  void put(std::size_t at, int n) {
    element e(n);
    all.value()[at].insert(e);
  }
  void take(unsigned self, std::size_t at) {
    if (const std::optional<element> e = all.value()[at].remove()) got[self] += e->n.get();
  }
  // There is something.
  void must_find(unsigned self, std::size_t first) {
    const std::optional<element> e = all->template remove<Scan>(first);
    POLDER_MODEL_CHECK(e.has_value());
    got[self] += e->n.get();
  }
};

// One puts where the get has looked, and takes where it will look.
template <class Kind, template <class> class Backend, class Scan>
struct behind : rl::test_suite<behind<Kind, Backend, Scan>, 2>, pair_of<Kind, Backend, Scan> {
  void before() {
    this->open();
    this->put(1, 1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 10);
      this->take(0, 1);
    } else {
      this->must_find(1, 0);
    }
  }
  void after() { this->close(11); }
};

// The same, again and again: each pass of the get may find nothing.
template <class Kind, template <class> class Backend, class Scan>
struct to_and_fro : rl::test_suite<to_and_fro<Kind, Backend, Scan>, 2>, pair_of<Kind, Backend, Scan> {
  void before() {
    this->open();
    this->put(1, 1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 10);
      this->take(0, 1);
      this->put(1, 100);
      this->take(0, 0);
      this->put(0, 1000);
      this->take(0, 1);
    } else {
      this->must_find(1, 0);
    }
  }
  void after() { this->close(1111); }
};

// The get hears of the put only through one who took in between: by the pops' own edge.
template <class Kind, template <class> class Backend, class Scan>
struct heard_of : rl::test_suite<heard_of<Kind, Backend, Scan>, 3>, pair_of<Kind, Backend, Scan> {
  void before() {
    this->open();
    this->put(1, 1);
    this->put(1, 2);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 10);
      this->take(0, 1);
    } else if (self == 1) {
      this->take(1, 1);
    } else {
      this->must_find(2, 0);
    }
  }
  void after() { this->close(13); }
};

// All put into one: who finds the tail behind helps, and others go on from where it was helped to.
template <class Kind, template <class> class Backend>
struct helped : rl::test_suite<helped<Kind, Backend>, 3>, pair_of<Kind, Backend, exact_scan> {
  void before() { this->open(); }
  void thread(unsigned self) {
    this->put(0, self == 0 ? 1 : self == 1 ? 10 : 100);
    if (self == 0) this->take(0, 0);
  }
  void after() { this->close(111); }
};

// Two want the same turn: one has it.
template <class Kind, template <class> class Backend>
struct turns : rl::test_suite<turns<Kind, Backend>, 2> {
  typename Kind::domain domain;
  std::optional<Backend<Kind>> one;
  int put[2] = {}, got[2] = {};

  void before() { one.emplace(domain); }
  void thread(unsigned self) {
    element e(1);
    put[self] += one->insert_after(0, e);
    std::optional<element> out;
    std::uint64_t seen = 0;
    const polder::ds::turn how = one->remove_after(0, out, seen);
    POLDER_MODEL_CHECK(how != polder::ds::turn::empty);
    if (how == polder::ds::turn::taken) got[self] += out->n.get();
    put[self] += 2 * one->insert_after(1, e);
  }
  void after() {
    POLDER_MODEL_CHECK(put[0] + put[1] == 3 && got[0] + got[1] == 1);
    one.reset();
  }
};

template <class Kind, template <class> class Backend>
bool of_turns(const char* title) {
  return passes<turns<Kind, Backend>>({.title = title, .how = search::bounded, .floor = 100, .switches = 2});
}

template <class Kind, template <class> class Backend>
bool both(const char* a, const char* b, const char* c) {
  bool ok = true;
  ok &=
      passes<behind<Kind, Backend, exact_scan>>({.title = a, .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<to_and_fro<Kind, Backend, exact_scan>>(
      {.title = b, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<to_and_fro<Kind, Backend, exact_scan>>({.title = b, .executions = 20'000});
  ok &= passes<heard_of<Kind, Backend, exact_scan>>({.title = c, .executions = 30'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= both<keeping, queue>("queues: put behind", "queues: to and fro", "queues: heard of");
  ok &= both<keeping, stack>("stacks: put behind", "stacks: to and fro", "stacks: heard of");
  ok &= both<hazards, queue>("queues, hazards: put behind", "queues, hazards: to and fro",
                             "queues, hazards: heard of");
  ok &= both<hazards, stack>("stacks, hazards: put behind", "stacks, hazards: to and fro",
                             "stacks, hazards: heard of");
  ok &= passes<helped<keeping, queue>>({.title = "queue: three put", .executions = 30'000});
  ok &= of_turns<keeping, queue>("queue: turns") && of_turns<hazards, queue>("queue, hazards: turns");
  ok &= of_turns<keeping, counted_stack>("counted stack: turns");
  ok &= of_turns<hazards, counted_stack>("counted stack, hazards: turns");
  // One pass is not enough.
  ok &= must_fail<behind<keeping, queue, single_scan>>(
      {.title = "queues, looked through once", .how = search::bounded});
  return ok ? 0 : 1;
}
