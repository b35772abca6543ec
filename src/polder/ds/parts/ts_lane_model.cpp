// ts_lane and ts_sides under the model checker: each element once, in a deque's order where no two overlap, the empty answer,
// nothing read that was freed, and nothing that was taken left linked for good.
#include <polder/ds/parts/ts_lane.hpp>

#include <cstddef>
#include <new>
#include <utility>

#include <polder/ds/parts/ts_cell.hpp>
#include <polder/ds/parts/ts_sides.hpp>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::ds::side;
using polder::model::key;

constexpr unsigned nodes = 14, guards = 3;
struct header {
  polder::plain<int> alive{1};
};

// Elements have numbers from 1 to 7; a set of them has four bits for each, how often it came out. In a world that keeps what
// was retired nobody needs a fence, so only links and clocks order.
enum class kind { frees, keeps };
template <class Clock, kind Kind = kind::frees>
struct world {
  using lane = polder::ds::ts_lane<key, typename Clock::time, header, polder::model::none>;
  using node = typename lane::node;

  struct two_cells {
    using cell = polder::ds::ts_cell<polder::ds::ts_sides<lane>, Clock>;
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

  // A region: what its thread retires is freed when it has closed, if nobody else is inside then.
  struct guard {
    world& w;
    const unsigned self;
    guard(world& of, unsigned s) : w(of), self(s) {
      if constexpr (Kind == kind::keeps) return;
      w.inside[self].store(1, order::relaxed);
      polder::fence(order::seq_cst);
    }
    ~guard() {
      if constexpr (Kind == kind::keeps) return;
      w.inside[self].store(0, order::release);
      polder::fence(order::seq_cst);
      for (auto& other : w.inside) {
        if (other.load(order::acquire) != 0) return;
      }
      for (node*& n : w.waiting[self]) {
        if (n != nullptr) std::exchange(n, nullptr)->alive.set(0);
      }
    }
    void retire(node* n) {
      POLDER_MODEL_CHECK(w.retired[n - w.at(0)].fetch_add(1, order::relaxed) == 0);
      for (node*& place : w.waiting[self]) {
        if (Kind == kind::frees && place == nullptr) {
          place = n;
          break;
        }
      }
    }
  };

  alignas(16) std::byte room[nodes * sizeof(node)];
  atomic<unsigned> used{0};
  atomic<unsigned> retired[nodes];
  atomic<unsigned> inside[guards];
  node* waiting[guards][nodes] = {};
  Clock clock;
  two_cells cells;
  unsigned moved = 0;
  unsigned seen[guards] = {};

  ~world() {
    for (unsigned i = 0; i != used.load(order::relaxed); ++i) at(i)->~node();
  }
  node* at(unsigned i) { return reinterpret_cast<node*>(room) + i; }

  void put(unsigned self, side s, int n) { put(self, self, s, n); }
  void put(unsigned self, unsigned cell, side s, int n) {
    guard g(*this, self);
    auto& mine = cells.cells[cell];
    node* const made = new (at(used.fetch_add(1, order::relaxed))) node(key(n));
    mine.buffer.at(s).put(g, made);
    made->stamp.set(clock.stamp(cells, mine.beat));
  }
  // 0: empty.
  int get(unsigned self, side s) {
    guard g(*this, self);
    int out = 0;
    take_outermost(g, cells, clock, s, [&](node& n) {
      POLDER_MODEL_CHECK(n.alive.get() == 1);
      out = n.element.take().value();
    });
    if (out != 0) seen[self] += 1u << 4 * out;
    return out;
  }
  // What a get does that has chosen what is youngest there.
  void take_from(unsigned cell, side s) {
    guard g(*this, 0);
    lane& from = cells.cells[cell].buffer.at(s);
    if (node* const n = take_out(from)) from.bury(g, n);
  }
  node* take_out(lane& from, bool oldest = false) {
    node* const n = oldest ? from.oldest() : from.youngest();
    if (n == nullptr || !from.take(n)) return nullptr;
    seen[0] += 1u << 4 * n->element.take().value();
    return n;
  }
  // Puts into one lane, then takes from the other, by turns: one is inside all the time, though never the same.
  void move() {
    const unsigned i = moved++;
    put(0, i % 2, side::left, int(i) + 2);
    take_from((i + 1) % 2, side::left);
  }
  // Each of 1 … n came out once.
  void all_came_out(int n) {
    while (get(0, side::right) != 0) {
    }
    for (int i = 1; i <= n; ++i) POLDER_MODEL_CHECK(((seen[0] + seen[1] + seen[2]) >> 4 * i & 15) == 1);
  }
  // What still waits in a lane of `many` nodes is unlinked by and by: all but the last.
  void all_leave(unsigned cell, side s, unsigned many) {
    for (int i = 0; i != 2; ++i) {
      put(0, cell, s, 7);
      take_from(cell, s);
    }
    unsigned gone = 0;
    for (auto& r : retired) gone += r.load(order::relaxed);
    POLDER_MODEL_CHECK(gone == many + 1);
  }
};

// A node comes behind one that was taken while it was the last, and is taken before the link to it is there.
struct late : rl::test_suite<late, 2>, world<polder::ds::atomic_clock> {
  void before() { put(0, 0, side::right, 1); }
  void thread(unsigned self) {
    if (self == 0) {
      put(0, side::right, 2);
    } else {
      get(1, side::right);
      get(1, side::right);
    }
  }
  void after() {
    all_came_out(2);
    all_leave(0, side::right, 2);
  }
};

// Taken at both ends and in between, by two, while the owner puts.
struct both_ends : rl::test_suite<both_ends, 3>, world<polder::ds::atomic_clock> {
  void before() {
    put(0, 0, side::right, 1);
    put(0, 0, side::right, 2);
  }
  void thread(unsigned self) {
    if (self == 0) put(0, side::right, 3);
    else POLDER_MODEL_CHECK(get(self, self == 1 ? side::left : side::right) != 0);
  }
  void after() {
    all_came_out(3);
    all_leave(0, side::right, 3);
  }
};

// One puts at one side of its own lanes, in this order; who gets there has the later first, unless they overlap.
template <class Clock>
struct as_a_stack : rl::test_suite<as_a_stack<Clock>, 2>, world<Clock> {
  atomic<int> done{0};
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, side::left, 1);
      done.store(1, order::release);
    } else {
      const bool behind = done.load(order::acquire) == 1;
      this->put(1, side::left, 2);
      const int first = this->get(1, side::left), second = this->get(1, side::left);
      POLDER_MODEL_CHECK(first != 0);
      if (behind) POLDER_MODEL_CHECK(first == 2 && second == 1);
    }
  }
  void after() { this->all_came_out(2); }
};

// The same from the other side: the earlier first.
template <class Clock>
struct as_a_queue : rl::test_suite<as_a_queue<Clock>, 2>, world<Clock> {
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 0, side::left, 1);
      this->put(0, 1, side::left, 2);
    } else {
      const int first = this->get(1, side::right), second = this->get(1, side::right);
      POLDER_MODEL_CHECK(first != 2);
      POLDER_MODEL_CHECK(second != 2 || first == 1);
    }
  }
  void after() { this->all_came_out(2); }
};

// An element is inside all the time, though never the same: no get may say that all is empty, from whichever side.
template <side S>
struct never_empty : rl::test_suite<never_empty<S>, 2>, world<polder::ds::atomic_clock> {
  void before() { this->put(0, 1, side::right, 1); }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, side::right, 2);
      this->get(0, side::right);
    } else {
      POLDER_MODEL_CHECK(this->get(1, S) != 0);
    }
  }
  void after() { this->all_came_out(2); }
};

// One puts into the one lane, then takes from the other what a get may have passed, with nodes before and behind it that are
// taken and still linked.
template <side S>
struct one_move : rl::test_suite<one_move<S>, 2>, world<polder::ds::atomic_clock, kind::keeps> {
  using lane = world<polder::ds::atomic_clock, kind::keeps>::lane;
  node* stalled = nullptr;
  lane& second() { return this->cells.cells[1].buffer.at(side::left); }
  void before() {
    for (int n = 1; n != 4; ++n) this->put(0, 1, side::left, n);
    stalled = this->take_out(second(), true);
    this->take_from(1, side::left);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, side::left, 4);
      this->take_from(1, side::left);
    } else {
      POLDER_MODEL_CHECK(this->get(1, S) != 0);
    }
  }
  void after() {
    {
      guard g(*this, 0);
      second().bury(g, stalled);
    }
    this->all_came_out(4);
  }
};

// Each move falls between two visits of a get, which then never sees it.
template <side S>
struct never_seen : rl::test_suite<never_seen<S>, 1>, world<polder::ds::atomic_clock> {
  void thread(unsigned) {
    this->put(0, 1, side::left, 1);
    this->cells.moves = this;
    POLDER_MODEL_CHECK(this->get(0, S) != 0);
  }
};

// What was put at a side stands further out there than all that was put at the other, however early, in whichever thread's lanes.
struct near_first : rl::test_suite<near_first, 1>, world<polder::ds::atomic_clock> {
  void thread(unsigned) {
    for (const unsigned far : {0u, 1u}) {
      put(0, far, side::right, 1);
      put(0, 1 - far, side::left, 2);
      POLDER_MODEL_CHECK(get(0, side::left) == 2 && get(0, side::left) == 1);
    }
  }
};

template <class Clock>
bool with(const char* stack, const char* queue) {
  using namespace polder::model;
  bool ok = true;
  // By chance the one is hardly ever done before the other begins.
  ok &= passes<as_a_stack<Clock>>({.title = stack, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<as_a_stack<Clock>>({.title = stack, .executions = 15'000});
  ok &= passes<as_a_queue<Clock>>({.title = queue, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<late>({.title = "ts lane: late", .executions = 30'000});
  ok &= passes<both_ends>({.title = "ts lane: both ends", .executions = 30'000});
  ok &= passes<never_empty<side::left>>({.title = "ts deque, from the left: never empty", .executions = 15'000});
  ok &= passes<never_empty<side::right>>({.title = "ts deque, from the right: never empty", .executions = 15'000});
  ok &= passes<one_move<side::left>>(
      {.title = "ts deque, from the left: one move", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<one_move<side::right>>(
      {.title = "ts deque, from the right: one move", .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<never_seen<side::left>>({.title = "ts deque, from the left: never seen", .executions = 1});
  ok &= passes<never_seen<side::right>>({.title = "ts deque, from the right: never seen", .executions = 1});
  ok &= passes<near_first>({.title = "ts deque: near first", .executions = 1});
  ok &= with<polder::ds::atomic_clock>("ts deque, counter: one side", "ts deque, counter: across");
  ok &= with<polder::ds::cas_clock>("ts deque, CAS: one side", "ts deque, CAS: across");
  ok &= with<polder::ds::stutter_clock>("ts deque, stutter: one side", "ts deque, stutter: across");
  return ok ? 0 : 1;
}
