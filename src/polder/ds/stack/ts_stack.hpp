#pragma once
// ts_stack — time-stamped stack: each thread pushes to a list of its own and stamps the element; pop takes the latest
// one.
//
//   paper      Dodds, Haas and Kirsch, "A scalable, correct time-stamped stack", POPL 2015
//   progress   push: lock-free, alone on its list but for who takes from it; pop: lock-free (parts/ts_youngest.hpp)
//   in malloc  no: push allocates
//   deviation  parts/ts_stack_buffer.hpp: how nodes are unlinked; parts/ts_youngest.hpp: the empty answer
//
// The composition: a buffer for each thread number (parts/by_thread.hpp), a clock (parts/clock.hpp), a search. A
// thread that ended leaves its buffer to the next with its number.
//
// Why no total order is needed (the paper's theorem): a pop may miss an element only if its push had not linked it
// yet, and may take another than the latest only if no order is known; in both cases the pushes overlap, or overlap
// the pop.
#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/by_thread.hpp>
#include <polder/ds/parts/clock.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/hardware_clock.hpp>
#include <polder/ds/parts/joined.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/ts_cell.hpp>
#include <polder/ds/parts/ts_stack_buffer.hpp>
#include <polder/ds/parts/ts_youngest.hpp>

namespace polder::ds {

template <class T, class R, class Memory, class Clock>
class ts_stack : public collection<ts_stack<T, R, Memory, Clock>, T, in_node<T>>,
                 public stack_names<ts_stack<T, R, Memory, Clock>, T> {
  static constexpr std::string_view name = "ts-stack-", title = "TS stack, ";

 public:
  static constexpr collection_info info = {
      .name = joined<name, Clock::name>::value,
      .title = joined<title, Clock::title>::value,
      .kind = shape::stack,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Dodds, Haas and Kirsch, POPL 2015",
      .year = 2015,
      .parameters = Clock::parameters,
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  // Then the clock's parameters. Throws what the clock throws.
  template <class... Delay>
    requires std::constructible_from<Clock, Delay...>
  explicit ts_stack(typename R::domain& domain, Delay... delay) : domain_(domain), clock_(delay...) {}
  ts_stack(const ts_stack&) = delete;
  ts_stack& operator=(const ts_stack&) = delete;
  ~ts_stack() {
    while (remove()) {
    }
  }

 private:
  friend collection<ts_stack, T, in_node<T>>;

  using buffer = ts_stack_buffer<kept, typename Clock::time, typename R::header, Memory>;
  using node = typename buffer::node;
  using guard = typename R::template guard<4>;

  bool insert(kept& e) {
    guard g(domain_);
    auto& mine = cells_.mine();
    node* const n = g.template make<node>(std::move(e));
    mine.buffer.put(g, n);
    n->stamp.set(clock_.stamp(cells_, mine.beat));
    return true;
  }

  std::optional<kept> remove() {
    guard g(domain_);
    std::optional<kept> e;
    take_youngest(g, cells_, clock_, [&](node& n) { e.emplace(n.element.take()); });
    return e;
  }

  typename R::domain& domain_;
  Clock clock_;
  by_thread<ts_cell<buffer, Clock>> cells_;
};

template <class T, class R, class Memory = heap_memory>
using ts_stack_atomic = ts_stack<T, R, Memory, atomic_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_stack_cas = ts_stack<T, R, Memory, cas_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_stack_hardware = ts_stack<T, R, Memory, hardware_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_stack_interval = ts_stack<T, R, Memory, interval_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_stack_stutter = ts_stack<T, R, Memory, stutter_clock>;

}  // namespace polder::ds
