// ts_oldest and ts_queue_buffer under the model checker: what was put first leaves first, and the empty answer. Nothing is
// freed here: it shows what links and clocks order.
#include <polder/ds/parts/ts_oldest.hpp>

#include <cstddef>
#include <new>
#include <utility>

#include <polder/ds/parts/ts_cell.hpp>
#include <polder/ds/parts/ts_queue_buffer.hpp>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::model::key;

constexpr unsigned nodes = 12;
struct nothing {};

template <class Clock>
struct world {
  using buffer = polder::ds::ts_queue_buffer<key, typename Clock::time, nothing, polder::model::none>;
  using node = typename buffer::node;

  struct two_cells {
    using cell = polder::ds::ts_cell<buffer, Clock>;
    cell cells[2];
    world* moves = nullptr;  // in this world something happens behind each visit
    template <class F>
    void each(F&& f) {
      for (cell& c : cells) {
        if (f(c)) return;
        if (moves != nullptr && moves->moved != 5) moves->move();
      }
    }
    template <class F>
    void each(F&& f) const {
      if (!f(cells[0])) f(cells[1]);
    }
  };

  struct guard {
    world& w;
    template <class W>
    W protect(unsigned, const atomic<W>& word) {
      return word.load(order::acquire);
    }
    void hold(unsigned, const void*) {}
    template <class N, class... Element>
    N* make(Element&&... e) {
      return new (w.at(w.used.fetch_add(1, order::relaxed))) N(std::move(e)...);
    }
    void retire(node* n) { POLDER_MODEL_CHECK(w.retired[n - w.at(0)].fetch_add(1, order::relaxed) == 0); }
  };

  alignas(16) std::byte room[nodes * sizeof(node)];
  atomic<unsigned> used{0};
  atomic<unsigned> retired[nodes];
  Clock clock;
  two_cells cells;
  unsigned moved = 0;

  ~world() {
    for (unsigned i = 0; i != used.load(order::relaxed); ++i) at(i)->~node();
  }
  node* at(unsigned i) { return reinterpret_cast<node*>(room) + i; }

  void put(unsigned cell, int n) {
    guard g{*this};
    key e(n);
    auto& mine = cells.cells[cell];
    node* const made = mine.buffer.put(g, e);
    made->stamp.set(clock.stamp(cells, mine.beat));
  }
  // 0: empty.
  int get() {
    guard g{*this};
    int out = 0;
    take_oldest(g, cells, clock, [&](node& n) { out = n.element.take().value(); });
    return out;
  }
  // What a get does that has chosen what is first there.
  int take_from(unsigned cell) {
    guard g{*this};
    buffer& from = cells.cells[cell].buffer;
    const auto p = from.oldest(g);
    if (p.first == nullptr || !from.take(p)) return 0;
    const int out = p.first->element.take().value();
    g.retire(p.before);
    return out;
  }
  // Puts into one buffer, then takes from the other, by turns: one is inside all the time, though never the same.
  int move() {
    const unsigned i = moved++;
    put(i % 2, int(i) + 2);
    return take_from((i + 1) % 2);
  }
};

// One puts here, then there: whoever gets the second finds the first gone.
template <class Clock>
struct first_out : rl::test_suite<first_out<Clock>, 2>, world<Clock> {
  int got[2] = {};
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 1);
      this->put(1, 2);
    } else {
      for (int& n : got) n = this->get();
      POLDER_MODEL_CHECK(got[0] != 2);
      POLDER_MODEL_CHECK(got[1] != 2 || got[0] == 1);
    }
  }
  void after() {
    int taken = (got[0] != 0) + (got[1] != 0);
    for (int n; (n = this->get()) != 0;) POLDER_MODEL_CHECK(n == ++taken);
    POLDER_MODEL_CHECK(taken == 2);
  }
};

// Two get at once: each element once.
struct two_gets : rl::test_suite<two_gets, 2>, world<polder::ds::atomic_clock> {
  int got[2] = {};
  void before() {
    put(0, 1);
    put(1, 2);
  }
  void thread(unsigned self) { got[self] = get(); }
  void after() { POLDER_MODEL_CHECK(got[0] + got[1] == 3 && got[0] != 0 && got[1] != 0 && get() == 0); }
};

// An element moves between any two visits of a get, which then never sees it, and must not say that all is empty.
struct never_seen : rl::test_suite<never_seen, 1>, world<polder::ds::atomic_clock> {
  void thread(unsigned) {
    put(1, 1);
    cells.moves = this;
    POLDER_MODEL_CHECK(get() != 0);
  }
};

// One such move, each way in which it may fall between the steps of the get.
struct one_move : rl::test_suite<one_move, 2>, world<polder::ds::atomic_clock> {
  void before() { put(1, 1); }
  void thread(unsigned self) {
    if (self == 0) move();
    else POLDER_MODEL_CHECK(get() != 0);
  }
  void after() {
    while (get() != 0) {
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<never_seen>({.title = "ts queue: never seen", .executions = 1});
  ok &= passes<one_move>({.title = "ts queue: one move", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<two_gets>({.title = "ts queue: two gets", .how = search::bounded, .floor = 100, .switches = 2});
  ok &=
      passes<first_out<polder::ds::atomic_clock>>({.title = "ts queue, counter: first out", .executions = 20'000});
  // By chance no scan misses what a stale look at the clock or at half a span lets it take. With the other clocks not each way:
  // a get that reads the same old number again and again looks without end.
  ok &= passes<first_out<polder::ds::cas_clock>>(
      {.title = "ts queue, CAS: first out", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<first_out<polder::ds::cas_clock>>({.title = "ts queue, CAS: first out", .executions = 100'000});
  ok &= passes<first_out<polder::ds::stutter_clock>>(
      {.title = "ts queue, stutter: first out", .executions = 100'000});
  return ok ? 0 : 1;
}
