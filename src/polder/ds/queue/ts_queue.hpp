#pragma once
// ts_queue — time-stamped queue: each thread enqueues to a list of its own and stamps the element; dequeue takes the
// earliest.
//
//   paper      Dodds, Haas and Kirsch, "A scalable, correct time-stamped stack", POPL 2015, sec. 7; Haas, "Fast
//              concurrent data structures through timestamping", thesis, Salzburg 2015
//   progress   enqueue: wait-free, but for memory and the clock's part; dequeue: lock-free (parts/ts_oldest.hpp,
//              which also argues why the empty answer is exact)
//   in malloc  no: enqueue allocates
//   deviation  parts/ts_oldest.hpp: elements that have no stamp yet
//
// The composition: a buffer for each thread number (parts/by_thread.hpp), a clock (parts/clock.hpp), a search. A
// thread that ended leaves its buffer to the next with its number.
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
#include <polder/ds/parts/ts_oldest.hpp>
#include <polder/ds/parts/ts_queue_buffer.hpp>

namespace polder::ds {

template <class T, class R, class Memory, class Clock>
class ts_queue : public collection<ts_queue<T, R, Memory, Clock>, T, in_node<T>>,
                 public queue_names<ts_queue<T, R, Memory, Clock>, T> {
  static constexpr std::string_view name = "ts-queue-", title = "TS queue, ";

 public:
  static constexpr collection_info info = {
      .name = joined<name, Clock::name>::value,
      .title = joined<title, Clock::title>::value,
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "wait-free, but for the allocator's part",
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
  explicit ts_queue(typename R::domain& domain, Delay... delay) : domain_(domain), clock_(delay...) {}
  ts_queue(const ts_queue&) = delete;
  ts_queue& operator=(const ts_queue&) = delete;
  ~ts_queue() {
    while (remove()) {
    }
    guard g(domain_);
    cells_.each([&](auto& cell) {
      cell.buffer.end(g);
      return false;
    });
  }

 private:
  friend collection<ts_queue, T, in_node<T>>;

  using buffer = ts_queue_buffer<kept, typename Clock::time, typename R::header, Memory>;
  using node = typename buffer::node;
  using guard = typename R::template guard<4>;

  bool insert(kept& e) {
    guard g(domain_);
    auto& mine = cells_.mine();
    node* const n = mine.buffer.put(g, e);
    n->stamp.set(clock_.stamp(cells_, mine.beat));
    return true;
  }

  std::optional<kept> remove() {
    guard g(domain_);
    std::optional<kept> e;
    take_oldest(g, cells_, clock_, [&](node& n) { e.emplace(n.element.take()); });
    return e;
  }

  typename R::domain& domain_;
  Clock clock_;
  by_thread<ts_cell<buffer, Clock>> cells_;
};

template <class T, class R, class Memory = heap_memory>
using ts_queue_atomic = ts_queue<T, R, Memory, atomic_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_queue_cas = ts_queue<T, R, Memory, cas_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_queue_hardware = ts_queue<T, R, Memory, hardware_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_queue_interval = ts_queue<T, R, Memory, interval_clock>;
template <class T, class R, class Memory = heap_memory>
using ts_queue_stutter = ts_queue<T, R, Memory, stutter_clock>;

}  // namespace polder::ds
