// block_list under the model checker, with blocks of two: what was put comes out once, whole; a block goes only when all in it
// are taken; and two lists are together empty only if both were at one moment.
#include <polder/ds/pool/block_list.hpp>

#include <optional>

#include <polder/ds/parts/backends.hpp>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::ds::backends;
using polder::ds::exact_scan;
using polder::model::key;

constexpr unsigned guards = 3;
using keeping = polder::model::keeping<guards, 2, 8>;
using hazards = polder::model::hazards<guards, 2, 8>;

template <class Kind>
using list = polder::ds::block_list<key, Kind, polder::ds::heap_memory, 2>;

template <class Kind>
struct world {
  typename Kind::domain domain;
  std::optional<backends<list<Kind>>> lists;
  int got[guards + 1][8] = {};  // by element: how often

  void open() { lists.emplace(2, domain); }
  void put(unsigned at, int n) {
    key e(n);
    POLDER_MODEL_CHECK(lists.value()[at].insert(e));
  }
  // 0: nothing, after `seen` puts.
  int take(unsigned self, unsigned at, std::uint64_t& seen) {
    const std::optional<key> e = lists.value()[at].remove(seen);
    if (!e) return 0;
    ++got[self][e->value()];
    return e->value();
  }
  int take(unsigned self, unsigned at = 0) {
    std::uint64_t ignored;
    return take(self, at, ignored);
  }
  void must_find(unsigned self) {
    const std::optional<key> e = lists->template remove<exact_scan>(0);
    POLDER_MODEL_CHECK(e.has_value());
    ++got[self][e->value()];
  }
  void close(int last) {
    while (take(guards) != 0) {
    }
    while (take(guards, 1) != 0) {
    }
    for (int n = 1; n != 8; ++n) {
      int all = 0;
      for (const auto& of : got) all += of[n];
      POLDER_MODEL_CHECK(all == int(n <= last));
    }
    lists.reset();
  }
};

// The owner fills a block and goes on to the next, the other takes what it finds, and counts what was put.
template <class Kind>
struct through_blocks : rl::test_suite<through_blocks<Kind>, 2>, world<Kind> {
  void before() { this->open(); }
  void thread(unsigned self) {
    if (self == 0) {
      for (int n = 1; n != 5; ++n) this->put(0, n);
    } else {
      for (int i = 0, last = 0; i != 4; ++i) {
        std::uint64_t seen = 0;
        const int n = this->take(1, 0, seen);
        if (n == 0) POLDER_MODEL_CHECK(seen == std::uint64_t(last));
        else POLDER_MODEL_CHECK(n == ++last);
      }
    }
  }
  void after() { this->close(4); }
};

// All take: each what it finds, the owner puts meanwhile.
template <class Kind>
struct all_take : rl::test_suite<all_take<Kind>, 3>, world<Kind> {
  void before() {
    this->open();
    for (int n = 1; n != 4; ++n) this->put(0, n);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 4);
      this->put(0, 5);
    }
    // There are three at least that were put before.
    POLDER_MODEL_CHECK(this->take(self) != 0);
  }
  void after() { this->close(5); }
};

// Two take, and the one goes on to the block that the other found.
template <class Kind>
struct handed_on : rl::test_suite<handed_on<Kind>, 3>, world<Kind> {
  void before() {
    this->open();
    this->put(0, 1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      for (int n = 2; n != 5; ++n) this->put(0, n);
    } else {
      this->take(self);
      this->take(self);
    }
  }
  void after() { this->close(4); }
};

// One element at least is inside, though never the same: the owner of both lists puts into one, then takes from the other.
template <class Kind>
struct never_empty : rl::test_suite<never_empty<Kind>, 2>, world<Kind> {
  void before() {
    this->open();
    this->put(1, 1);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 2);
      this->take(0, 1);
      this->put(1, 3);
      this->take(0, 0);
    } else {
      this->must_find(1);
    }
  }
  void after() { this->close(3); }
};

// The same, heard of through another who took.
template <class Kind>
struct heard_of : rl::test_suite<heard_of<Kind>, 3>, world<Kind> {
  void before() {
    this->open();
    this->put(1, 1);
    this->put(1, 2);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 3);
      this->take(0, 1);
    } else if (self == 1) {
      this->take(1, 1);
    } else {
      this->must_find(2);
    }
  }
  void after() { this->close(3); }
};

template <class Kind>
bool all(const char* blocks, const char* take, const char* on, const char* empty, const char* heard) {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<through_blocks<Kind>>({.title = blocks, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<through_blocks<Kind>>({.title = blocks, .executions = 10'000});
  ok &= passes<all_take<Kind>>({.title = take, .executions = 20'000});
  ok &= passes<handed_on<Kind>>({.title = on, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<never_empty<Kind>>({.title = empty, .executions = 20'000});
  ok &= passes<heard_of<Kind>>({.title = heard, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= all<keeping>("blocks: through", "blocks: all take", "blocks: handed on", "blocks: never empty",
                     "blocks: heard of");
  ok &= all<hazards>("blocks, hazards: through", "blocks, hazards: all take", "blocks, hazards: handed on",
                     "blocks, hazards: never empty", "blocks, hazards: heard of");
  return ok ? 0 : 1;
}
