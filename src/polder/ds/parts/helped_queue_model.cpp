// helped_queue under the model checker: first in first out, nothing lost or given twice, nothing touched that was freed; on the
// slow path, with every thread helping, and beside threads on the fast one.
#include <polder/ds/parts/helped_queue.hpp>

#include <cstdio>
#include <optional>

#include <polder/ds/parts/memory.hpp>

#include "explore.hpp"
#include "in_order.hpp"
#include "standing.hpp"
#include "structures.hpp"

namespace {

using polder::ds::slow_path;
using polder::model::key;
using polder::model::passes;
using polder::model::standing;

using keeping = polder::model::pausing<polder::model::keeping<3, 4, 16>>;
using hazards = polder::model::pausing<polder::model::hazards<3, 4, 16>>;
using eras = polder::model::pausing<polder::model::eras<3, 4, 16>>;

template <class Cell>
struct of_three {
  Cell cells[4];
  Cell& at(unsigned number) { return cells[number]; }
  Cell* find(unsigned number) { return &cells[number]; }
};

// How often the points of the slow path were reached, by the operation's owner and by who helps it.
struct counted {
  static inline unsigned long by_owner[6] = {}, by_helper[6] = {};
  static inline bool own[4] = {};
  static void at(slow_path p) {
    bool& mine = own[rl::ctx().current_thread() + 1];
    if (p == slow_path::announced) mine = true;
    ++(mine ? by_owner : by_helper)[unsigned(p)];
    if (p == slow_path::done) mine = false;
    standing::point();
  }
};

// Threads have the numbers from 1: the first that all look at is thread 0.
template <class R, unsigned Threads, unsigned Retries>
struct world {
  using queue = polder::ds::helped_queue<key, R, polder::ds::heap_memory, of_three, counted>;
  typename R::domain domain;
  queue q{domain, {.max_retries = Retries, .helping_delay = 1}};
  polder::model::in_order<Threads> seen;

  void put(unsigned self) {
    typename queue::guard g(domain);
    key k = seen.next_of(self);
    q.insert(g, k, self + 1);
  }
  bool get(unsigned self) {
    typename queue::guard g(domain);
    return seen.got(self, q.remove(g, self + 1));
  }
  void comes_out() {
    typename queue::guard g(domain);
    standing::end();
    seen.rest([&] { return q.remove(g, 1); });
  }
};

// Each has put before it gets: there is something for both.
template <class R, unsigned Retries>
struct both : rl::test_suite<both<R, Retries>, 2>, world<R, 2, Retries> {
  void before() { standing::begin(2); }
  void thread(unsigned self) {
    this->put(self);
    POLDER_MODEL_CHECK(this->get(self));
    standing::through(self);
  }
  void after() { this->comes_out(); }
};

// There is something for each get. Who comes back late finds that others took for it, and went on.
template <class R, unsigned Retries>
struct taking : rl::test_suite<taking<R, Retries>, 2>, world<R, 2, Retries> {
  void before() {
    for (unsigned i = 0; i != 3; ++i) this->put(0);
    standing::begin(2);
  }
  void thread(unsigned self) {
    POLDER_MODEL_CHECK(this->get(self));
    if (self == 1) POLDER_MODEL_CHECK(this->get(self));
    standing::through(self);
  }
  void after() { this->comes_out(); }
};

// One gets, another helps it, and a third puts: it is empty, or it is not.
template <class R, unsigned Retries>
struct empty_or_not : rl::test_suite<empty_or_not<R, Retries>, 3>, world<R, 3, Retries> {
  void before() { standing::begin(3); }
  void thread(unsigned self) {
    if (self == 2) this->put(2);
    else this->get(self);
    standing::through(self);
  }
  void after() { this->comes_out(); }
};

template <class R, unsigned Retries>
struct three : rl::test_suite<three<R, Retries>, 3>, world<R, 3, Retries> {
  void before() {
    this->put(2);
    standing::begin(3);
  }
  void thread(unsigned self) {
    if (self != 1) this->put(self);
    this->get(self);
    if (self == 1) this->get(self);
    standing::through(self);
  }
  void after() { this->comes_out(); }
};

}  // namespace

int main() {
  bool ok = true;
  ok &= passes<both<keeping, 0>>({.title = "helped queue: both", .executions = 10'000});
  ok &= passes<empty_or_not<keeping, 0>>({.title = "helped queue: empty or not", .executions = 20'000});
  ok &= passes<three<keeping, 0>>({.title = "helped queue: three threads", .executions = 20'000});
  ok &= passes<three<keeping, 1>>({.title = "helped queue: three, hastily", .executions = 20'000});
  ok &= passes<both<hazards, 0>>({.title = "helped queue, hazards: both", .executions = 10'000});
  ok &= passes<taking<hazards, 0>>({.title = "helped queue, hazards: taking", .executions = 10'000});
  ok &= passes<three<hazards, 1>>({.title = "helped queue, hazards: three, hastily", .executions = 20'000});
  ok &= passes<both<eras, 0>>({.title = "helped queue, eras: both", .executions = 10'000});
  ok &= passes<three<eras, 0>>({.title = "helped queue, eras: three threads", .executions = 20'000});

  static const char* const name[] = {"announced", "linked", "attempted", "claimed", "finished", "done"};
  for (const slow_path p : {slow_path::linked, slow_path::attempted, slow_path::claimed, slow_path::finished}) {
    const unsigned long helped = counted::by_helper[unsigned(p)];
    std::printf("%s for another: %lu times\n", name[unsigned(p)], helped);
    ok &= helped != 0;
  }
  return ok ? 0 : 1;
}
