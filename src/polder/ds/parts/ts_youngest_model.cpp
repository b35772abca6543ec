// ts_youngest and ts_stack_buffer under the model checker: two buffers, puts beside gets and the empty answer.
#include <polder/ds/parts/ts_youngest.hpp>

#include <cstddef>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include <polder/ds/parts/ts_cell.hpp>
#include <polder/ds/parts/ts_stack_buffer.hpp>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::model::key;
using polder::model::protection;

constexpr unsigned slots = 4, guards = 3, nodes = 12;

// What the world below reclaims like: its guards see a node's room again, which those of test/model/structures.hpp do not.
struct keeping {
  static constexpr polder::model::protects_what info{protection::region};
  struct header {};
  struct domain {};
};
struct hazards {
  static constexpr polder::model::protects_what info{protection::pointer};
  struct header {};
  struct domain {
    atomic<const void*> held[guards][slots];
  };
};
struct nothing {};

template <class R, class Clock>
struct world {
  using buffer = polder::ds::ts_stack_buffer<key, typename Clock::time, typename R::header, nothing>;
  using node = typename buffer::node;

  // Two threads' buffers, in the order of their numbers.
  struct pair {
    using cell = polder::ds::ts_cell<buffer, Clock>;
    cell cells[2];
    world* moves = nullptr;   // in this world something happens behind each visit
    world* waited = nullptr;  // in this one another thread does
    template <class F>
    void each(F&& f) {
      for (cell& c : cells) {
        if (f(c)) return;
        if (moves != nullptr && moves->moved != 5) moves->move();
        if (waited != nullptr && waited->stage < 8) waited->over(), waited->turn(waited->stage + 1);
      }
    }
    template <class F>
    void each(F&& f) const {
      if (!f(cells[0])) f(cells[1]);
    }
  };

  struct guard {
    world& w;
    unsigned self;
    ~guard() {
      if constexpr (R::info.protects == protection::pointer) {
        for (auto& h : w.domain.held[self]) h.store(nullptr, order::release);
        sweep();
      }
    }
    template <class W>
    W protect(unsigned slot, const atomic<W>& word) {
      W now = word.load(order::acquire);
      if constexpr (R::info.protects == protection::pointer) {
        for (;;) {
          w.domain.held[self][slot].store(address(now), order::release);
          polder::fence(order::seq_cst);
          const W again = word.load(order::acquire);
          if (again == now) break;
          now = again;
        }
      }
      return now;
    }
    void hold(unsigned slot, const void* p) {
      if constexpr (R::info.protects == protection::pointer) w.domain.held[self][slot].store(p, order::release);
    }
    void retire(node* n) {
      if constexpr (R::info.protects == protection::pointer) {
        for (node*& place : w.waiting[self]) {
          if (place == nullptr) {
            place = n;
            break;
          }
        }
        sweep();
      } else {
        w.retired[n - w.at(0)].fetch_add(1, order::relaxed);
      }
    }
    void sweep() {
      polder::fence(order::seq_cst);
      for (node*& place : w.waiting[self]) {
        if (place != nullptr && !held(place)) free(std::exchange(place, nullptr));
      }
    }
    bool held(const node* n) {
      for (auto& thread : w.domain.held) {
        for (auto& h : thread) {
          if (h.load(order::acquire) == n) return true;
        }
      }
      return false;
    }
    // A number that nobody may read any more.
    void free(node* n) {
      n->number.set(0);
      w.retired[n - w.at(0)].fetch_add(1, order::relaxed);
    }
    static const void* address(node* n) { return n; }
    static const void* address(typename buffer::link l) { return l.pointer(); }
  };

  typename R::domain domain;
  alignas(16) std::byte room[nodes * sizeof(node)];
  atomic<unsigned> used{0};
  atomic<unsigned> retired[nodes];
  node* waiting[guards][nodes] = {};
  Clock clock;
  pair cells;
  unsigned moved = 0;
  unsigned stage = 0;

  // Threads that take turns: what one did before another's turn is done, but nothing tells that other.
  void over() { ++stage; }
  void turn(unsigned n) {
    while (stage < n) rl::yield(1, polder::model::info(std::source_location::current()));
  }

  ~world() {
    for (unsigned i = 0; i != used.load(order::relaxed); ++i) at(i)->~node();
  }
  node* at(unsigned i) { return reinterpret_cast<node*>(room) + i; }

  // To the thread's buffer.
  void put(unsigned self, int n) { put(self, self, n); }
  void put(unsigned self, unsigned cell, int n) {
    guard g{*this, self};
    auto& mine = cells.cells[cell];
    node* const made = new (at(used.fetch_add(1, order::relaxed))) node(key(n));
    mine.buffer.put(g, made);
    made->stamp.set(clock.stamp(cells, mine.beat));
    POLDER_MODEL_CHECK(made->number.get() != 0);  // it was not freed before it was stamped
  }
  // 0: empty.
  int get(unsigned self) {
    guard g{*this, self};
    int out = 0;
    take_youngest(g, cells, clock, [&](node& n) { out = n.element.take().value(); });
    return out;
  }
  // What a get does that has chosen what is on top there.
  int take_from(unsigned self, unsigned cell) {
    guard g{*this, self};
    buffer& from = cells.cells[cell].buffer;
    node* const n = from.youngest(g);
    if (n == nullptr || !from.take(n)) return 0;
    const int out = n->element.take().value();
    from.bury(g, n);
    return out;
  }
  // What a take does before it takes.
  void stall_at(unsigned cell, std::uint64_t number) { cells.cells[cell].buffer.numbers().to(number); }
  // Puts into one buffer, then takes from the other, by turns: one is inside all the time, though never the same.
  int move() {
    const unsigned i = moved++;
    put(0, i % 2, int(i) + 2);
    return take_from(0, (i + 1) % 2);
  }
  // Each of 1 … n came out once, and every node was retired at most once, all of them in the end.
  void all_came_out(unsigned n, unsigned seen) {
    for (int out; (out = get(0)) != 0;) seen += 1u << (4 * (out - 1));
    for (unsigned i = 0; i != n; ++i) POLDER_MODEL_CHECK((seen >> 4 * i & 15) == 1);
    for (unsigned i = 0; i != n; ++i) POLDER_MODEL_CHECK(retired[i].load(order::relaxed) <= 1);
    if constexpr (R::info.protects == protection::region) {
      for (unsigned i = 0; i != n; ++i) POLDER_MODEL_CHECK(retired[i].load(order::relaxed) == 1);
    }
  }
  static unsigned once(int out) { return out == 0 ? 0 : 1u << (4 * (out - 1)); }
};

// One puts twice while the other gets: the later first, unless they overlap.
template <class R, class Clock>
struct put_and_get : rl::test_suite<put_and_get<R, Clock>, 2>, world<R, Clock> {
  unsigned seen[2] = {};
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 1);
      this->put(0, 2);
      seen[0] += this->once(this->get(0));
    } else {
      this->put(1, 3);
      seen[1] += this->once(this->get(1));
    }
    POLDER_MODEL_CHECK(seen[self] != 0);  // who has put one never finds nothing before one was got
  }
  void after() { this->all_came_out(3, seen[0] + seen[1]); }
};

// An element is inside all the time, though never the same: no get may say that all is empty.
template <class R, class Clock>
struct never_empty : rl::test_suite<never_empty<R, Clock>, 2>, world<R, Clock> {
  unsigned seen[2] = {};
  void before() { this->put(1, 1); }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 2);                      // one or two are inside
      seen[0] += this->once(this->get(0));  // one, or none if the other got one
    } else {
      const int out = this->get(1);
      POLDER_MODEL_CHECK(out != 0);
      seen[1] += this->once(out);
    }
  }
  void after() { this->all_came_out(2, seen[0] + seen[1]); }
};

// No get may say that all is empty while one thread moves an element to and fro.
template <class R, class Clock>
struct to_and_fro : rl::test_suite<to_and_fro<R, Clock>, 2>, world<R, Clock> {
  unsigned seen[2] = {};
  void before() { this->put(1, 1); }
  void thread(unsigned self) {
    if (self == 0) {
      for (unsigned i = 0; i != 3; ++i) seen[0] += this->once(this->move());
    } else {
      const int out = this->get(1);
      POLDER_MODEL_CHECK(out != 0);
      seen[1] += this->once(out);
    }
  }
  void after() { this->all_came_out(4, seen[0] + seen[1]); }
};

// The same with one move, each way in which it may fall between the steps of the get.
template <class R, class Clock>
struct one_move : rl::test_suite<one_move<R, Clock>, 2>, world<R, Clock> {
  unsigned seen[2] = {};
  void before() { this->put(0, 1, 1); }
  void thread(unsigned self) {
    if (self == 0) {
      seen[0] += this->once(this->move());
    } else {
      const int out = this->get(1);
      POLDER_MODEL_CHECK(out != 0);
      seen[1] += this->once(out);
    }
  }
  void after() { this->all_came_out(2, seen[0] + seen[1]); }
};

// The same where each move falls between two visits of the get, which then never sees it.
template <class R, class Clock>
struct never_seen : rl::test_suite<never_seen<R, Clock>, 1>, world<R, Clock> {
  void thread(unsigned) {
    this->put(0, 1, 1);
    this->cells.moves = this;
    POLDER_MODEL_CHECK(this->get(0) != 0);
  }
};

// What one put before another began, by whatever thread, comes out after it.
template <class R, class Clock>
struct in_order : rl::test_suite<in_order<R, Clock>, 2>, world<R, Clock> {
  atomic<int> done{0};
  int first = 0, second = 0;
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 1);
      done.store(1, order::release);
    } else {
      const bool behind = done.load(order::acquire) == 1;
      this->put(1, 2);
      first = this->get(1);
      second = this->get(1);
      POLDER_MODEL_CHECK(first != 0);
      if (behind) POLDER_MODEL_CHECK(first == 2 && second == 1);
    }
  }
  void after() { this->all_came_out(2, this->once(first) + this->once(second)); }
};

// Takers that chose a node before others were put above it: what is taken below the top.
template <class R, class Clock>
struct below_the_top : rl::test_suite<below_the_top<R, Clock>, 3>, world<R, Clock> {
  unsigned seen[3] = {};
  void before() { this->put(0, 1); }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 2);
      this->put(0, 3);
    } else {
      seen[self] += this->once(this->get(self));
    }
  }
  void after() { this->all_came_out(3, seen[1] + seen[2]); }
};

// What a get sees of a buffer is no older than the number that it read before. Takers have raised both numbers, and then stall;
// each look falls where that buffer is empty, and the moves after it come to the numbers that were there already.
struct raised_first : rl::test_suite<raised_first, 2>, world<keeping, polder::ds::atomic_clock> {
  void before() { put(0, 1, 1); }
  void thread(unsigned self) {
    if (self == 0) {
      put(0, 0, 2);
      stall_at(0, 1);
      take_from(0, 1);
      put(0, 1, 3);
      stall_at(1, 2);
      over();
      turn(2), over();
      turn(4);  // behind the first look at both
      take_from(0, 0);
      over();
      turn(6);  // behind the second look at the first
      put(0, 0, 4);
      take_from(0, 1);
      over();
      turn(8), over();
    } else {
      turn(1);
      cells.waited = this;
      POLDER_MODEL_CHECK(get(1) != 0);
      stage = 9;
    }
  }
  void after() {
    cells.waited = nullptr;
    while (get(0) != 0) {
    }
  }
};

// One puts into its own buffer, then takes from another what was on top there a while ago; the owner unlinks that. Who finds
// that buffer empty sees what was put before.
struct taken_below : rl::test_suite<taken_below, 3>, world<keeping, polder::ds::atomic_clock> {
  void before() { put(0, 1); }
  void thread(unsigned self) {
    if (self == 0) {
      put(0, 2);
      stall_at(0, 2);  // so the next raises nothing, and his mark alone tells of him
      over();
      turn(2);
      put(0, 3);
      over();
    } else if (self == 1) {
      turn(1);
      put(1, 4);
      POLDER_MODEL_CHECK(cells.cells[0].buffer.take(at(0)) && at(0)->element.take().value() == 1);
      over();
    } else {
      turn(3);
      for (int i = 0; i != 3; ++i) POLDER_MODEL_CHECK(get(2) != 0);
    }
  }
};

template <class R>
bool with_a_counter(const char* puts, const char* empty, const char* below) {
  using namespace polder::model;
  using polder::ds::atomic_clock;
  bool ok = true;
  ok &= passes<put_and_get<R, atomic_clock>>({.title = puts, .executions = 15'000});
  ok &= passes<never_empty<R, atomic_clock>>({.title = empty, .executions = 20'000});
  ok &= passes<below_the_top<R, atomic_clock>>({.title = below, .executions = 20'000});
  return ok;
}

template <class Clock>
bool with(const char* order, const char* move) {
  using namespace polder::model;
  bool ok = true;
  // By chance the one is hardly ever done before the other begins.
  ok &= passes<in_order<keeping, Clock>>({.title = order, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<in_order<keeping, Clock>>({.title = order, .executions = 15'000});
  ok &= passes<to_and_fro<keeping, Clock>>({.title = move, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= with_a_counter<keeping>("ts stack: put and get", "ts stack: never empty", "ts stack: below the top");
  ok &= with_a_counter<hazards>("ts stack, hazards: put and get", "ts stack, hazards: never empty",
                                "ts stack, hazards: below the top");
  ok &= polder::model::passes<one_move<keeping, polder::ds::atomic_clock>>(
      {.title = "ts stack: one move", .how = polder::model::search::bounded, .floor = 100, .switches = 3});
  ok &= polder::model::passes<never_seen<keeping, polder::ds::atomic_clock>>(
      {.title = "ts stack: never seen", .executions = 1});
  ok &= polder::model::passes<raised_first>({.title = "ts stack: raised first", .executions = 20'000});
  ok &= polder::model::passes<taken_below>({.title = "ts stack: taken below", .executions = 20'000});
  ok &= with<polder::ds::atomic_clock>("ts stack, counter: in order", "ts stack, counter: to and fro");
  ok &= with<polder::ds::cas_clock>("ts stack, CAS: in order", "ts stack, CAS: to and fro");
  ok &= with<polder::ds::stutter_clock>("ts stack, stutter: in order", "ts stack, stutter: to and fro");
  return ok ? 0 : 1;
}
