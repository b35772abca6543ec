#pragma once
// bounded_kfifo — a ring of segments of k slots, of which the k oldest elements may leave in any order.
//
//   paper      Kirsch, Lippautz and Payer, "Fast and scalable, lock-free k-FIFO queues", PaCT 2013, sec. 3, fig. 1
//   progress   lock-free (queue/segment_ring.hpp)
//   in malloc  yes for whole elements, once it is made
//   deviation  see queue/segment_ring.hpp
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/k_segment.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/random.hpp>
#include <polder/ds/parts/slot.hpp>
#include <polder/ds/queue/segment_ring.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class bounded_kfifo : public collection<bounded_kfifo<T, R, Memory>, T, in_word<T>>,
                      public queue_names<bounded_kfifo<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "bounded-kfifo",
      .title = "Bounded-size k-FIFO queue",
      .kind = shape::queue,
      .order = semantics::k_out_of_order,
      .putters = "lock-free",
      .getters = "lock-free",
      .capacity = "k times segments; full may be said while the last k - 1 are free",
      .paper = "Kirsch, Lippautz and Payer, PaCT 2013",
      .year = 2013,
      .parameters = "k, segments",
      .protection = needs::none,
  };
  using kept = typename in_word<T>::kept;
  static constexpr std::size_t usual_segments = 64;  // with the usual k, 80 KiB

  // Throws std::bad_alloc.
  bounded_kfifo() : bounded_kfifo(usual_k) {}
  // k, the slots of a segment: from 1 to most_k. segments: from 2 on. Else throws std::invalid_argument.
  explicit bounded_kfifo(std::size_t k, std::size_t segments = usual_segments)
      : ring_{checked_k("bounded_kfifo: k", k), checked_segments(k, segments)} {}  // braces: k is checked first
  bounded_kfifo(const bounded_kfifo&) = delete;
  bounded_kfifo& operator=(const bounded_kfifo&) = delete;
  ~bounded_kfifo() {
    while (std::optional<kept> e = remove()) in_word<T>::drop(*e);
  }

  // How many older elements a get may pass over: the others of one segment.
  std::size_t k() const noexcept { return ring_.k() - 1; }
  std::size_t capacity() const noexcept { return ring_.capacity(); }

 private:
  friend collection<bounded_kfifo, T, in_word<T>>;
  static std::size_t checked_segments(std::size_t k, std::size_t segments) {
    if (segments < 2) throw std::invalid_argument("bounded_kfifo: there are at least 2 segments");
    if (segments > std::numeric_limits<std::size_t>::max() / sizeof(slot) / k)
      throw std::invalid_argument("bounded_kfifo: k times segments is more than there is memory");
    return segments;
  }

  bool insert(kept& e) noexcept { return ring_.put(e, random::next()); }
  std::optional<kept> remove() noexcept { return ring_.get(random::next()); }

  segment_ring<Memory> ring_;
};

}  // namespace polder::ds
