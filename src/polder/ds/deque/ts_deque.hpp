#pragma once
// ts_deque — time-stamped deque: each thread puts to two lists of its own, one a side, and stamps the element; a get
// takes what is outermost of all.
//
//   paper      Haas, "Fast concurrent data structures through timestamping", thesis, Salzburg 2015; the clocks:
//              Dodds, Haas and Kirsch, POPL 2015
//   progress   lock-free (parts/ts_sides.hpp, parts/ts_lane.hpp)
//   in malloc  no: a put allocates
//   deviation  parts/ts_lane.hpp: two lists instead of one, and how nodes are unlinked; parts/ts_sides.hpp: what has
//              no stamp yet, and the empty answer
//
// put and get without a side: a thread puts at the side of its number, the odd ones at the right; it gets at both by
// turns. So one thread alone that only puts and gets sees its elements leave in the order of their puts, from either
// end.
#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/by_thread.hpp>
#include <polder/ds/parts/clock.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/deque_names.hpp>
#include <polder/ds/parts/hardware_clock.hpp>
#include <polder/ds/parts/joined.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/ts_cell.hpp>
#include <polder/ds/parts/ts_lane.hpp>
#include <polder/ds/parts/ts_sides.hpp>
#include <polder/ds/suits.hpp>
#include <polder/smr/thread_slot.hpp>

namespace polder::ds {

template <class T, class R, class Memory, class Clock>
class ts_deque : public collection<ts_deque<T, R, Memory, Clock>, T, in_node<T>>,
                 public deque_names<ts_deque<T, R, Memory, Clock>, T> {
  static constexpr std::string_view name = "ts-deque-", title = "TS deque, ";

 public:
  static constexpr collection_info info = {
      .name = joined<name, Clock::name>::value,
      .title = joined<title, Clock::title>::value,
      .kind = shape::deque,
      .order = semantics::linearizable,
      .conjectured = true,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Haas, thesis, Salzburg 2015",
      .year = 2015,
      .parameters = Clock::parameters,
      .protection = needs::region,
  };
  using kept = typename in_node<T>::kept;

  // Then the clock's parameters. Throws what the clock throws.
  template <class... Delay>
    requires std::constructible_from<Clock, Delay...>
  explicit ts_deque(typename R::domain& domain, Delay... delay) : domain_(domain), clock_(delay...) {
    static_assert(suits<R>(info), "the reclaimer does not suit the structure: suits.hpp, unsuited");
  }
  ts_deque(const ts_deque&) = delete;
  ts_deque& operator=(const ts_deque&) = delete;
  ~ts_deque() {
    guard g(domain_);
    cells_.each([&](auto& cell) {
      for (lane& l : cell.buffer.lanes) l.end(g);
      return false;
    });
  }

 private:
  friend collection<ts_deque, T, in_node<T>>;
  friend deque_names<ts_deque, T>;

  using lane = ts_lane<kept, typename Clock::time, typename R::header, Memory>;
  using node = typename lane::node;
  using guard = typename R::template guard<1>;

  bool insert(kept& e, side at) {
    guard g(domain_);
    auto& mine = cells_.mine();
    node* const n = g.template make<node>(std::move(e));
    mine.buffer.at(at).put(g, n);
    n->stamp.set(clock_.stamp(cells_, mine.beat));
    return true;
  }
  std::optional<kept> remove(side at) {
    guard g(domain_);
    std::optional<kept> e;
    take_outermost(g, cells_, clock_, at, [&](node& n) { e.emplace(n.element.take()); });
    return e;
  }

  bool insert(kept& e) {
    const guard held(domain_);  // the number is the thread's own meanwhile
    return insert(e, smr::thread_slot::mine() % 2 == 0 ? side::left : side::right);
  }
  std::optional<kept> remove() {
    static thread_local side turn = side::left;
    turn = other(turn);
    return remove(turn);
  }

  typename R::domain& domain_;
  Clock clock_;
  by_thread<ts_cell<ts_sides<lane>, Clock>> cells_;
};

template <class T, class R, class Memory = heap_memory>
using ts_deque_atomic = ts_deque<T, R, Memory, atomic_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_deque_cas = ts_deque<T, R, Memory, cas_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_deque_hardware = ts_deque<T, R, Memory, hardware_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_deque_interval = ts_deque<T, R, Memory, interval_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_deque_stutter = ts_deque<T, R, Memory, stutter_clock>;

}  // namespace polder::ds
