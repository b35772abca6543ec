#pragma once
// spsc_ring — a ring for one thread that puts and one that gets.
//
//   paper      Lamport, "Specifying concurrent program modules", TOPLAS 5(2), 1983; each side keeps what it last saw of the
//              other's index: Lee, Bu and Chandranmenon, "A lock-free, cache-efficient shared ring buffer for multi-core
//              architectures" (MCRingBuffer), ANCS 2009
//   progress   wait-free
//   in malloc  no
//   deviation  put and get publish each element at once, where MCRingBuffer waits for a batch; put_bulk and get_bulk publish
//              once
//
//     free ──▶ [put: element] ── tail_ passes it ──▶ filled ──▶ [get: take] ── head_ passes it ──▶ free
//
// Invariant: head_ <= tail_ <= head_ + capacity; the elements are those of the positions from head_ to tail_.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/cells.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/ring_capacity.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class spsc_ring : public collection<spsc_ring<T, R, Memory>, T, in_node<T>>,
                  public queue_names<spsc_ring<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "spsc-ring",
      .title = "ring of one putter and one getter",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "wait-free",
      .getters = "wait-free",
      .capacity = "a power of two",
      .most_putters = 1,
      .most_getters = 1,
      .paper = "Lamport, TOPLAS 5(2), 1983; Lee, Bu and Chandranmenon, ANCS 2009",
      .year = 1983,
      .parameters = "capacity (4096), rounded up to a power of two",
  };
  using kept = typename in_node<T>::kept;

  // Throws std::invalid_argument, std::bad_alloc.
  explicit spsc_ring(std::size_t capacity = usual_ring_capacity)
      : cells_(ring_capacity(capacity, info.name)), mask_(cells_.size() - 1) {}
  spsc_ring(const spsc_ring&) = delete;
  spsc_ring& operator=(const spsc_ring&) = delete;
  ~spsc_ring() {
    while (remove()) {
    }
  }

  std::size_t capacity() const noexcept { return cells_.size(); }

  // Puts the first n from `from` on, as many as there is room for, moving from each; how many. Throws what making a T of *from
  // does, if it is for the first of them; later it stops there.
  template <class Iterator>
  std::size_t put_bulk(Iterator from, std::size_t n)
    requires in_node<T>::whole
  {
    const position tail = put_.mine.load(order::relaxed);
    n = std::min(n, room(tail, n));
    std::size_t done = 0;
    const publisher published{put_, tail, done};
    try {
      for (; done != n; ++from) {
        cells_[(tail + done) & mask_].put(kept(std::move(*from)));
        ++done;
      }
    } catch (...) {
      if (done == 0) throw;
    }
    return done;
  }
  // Gets as many as are there, at most n, to `to`; how many. What an assignment there throws loses the element it is for.
  template <class Iterator>
  std::size_t get_bulk(Iterator to, std::size_t n)
    requires in_node<T>::whole
  {
    const position head = get_.mine.load(order::relaxed);
    n = std::min(n, filled(head, n));
    std::size_t done = 0;
    const publisher published{get_, head, done};
    for (; done != n; ++to) *to = cells_[(head + done++) & mask_].take();
    return n;
  }

 private:
  friend collection<spsc_ring, T, in_node<T>>;
  using position = std::uint64_t;

  // What one side writes.
  struct alignas(false_sharing_range) side {
    // mine — the next position of this side. Written by it, read by both.
    //   order  spsc-put: who sees the tail sees the elements before it; spsc-get: who sees the head finds the cells before
    //          it empty
    //   ABA    it only grows
    atomic<position> mine;
    position seen = 0;  // of the other side's, last; this side only
  };

  // Of so many cells, also where an element cannot be made, or taken over.
  struct publisher {
    side& of;
    const position from;
    const std::size_t& done;
    ~publisher() { of.mine.store(from + done, order::release); }  // sync: spsc-put, spsc-get
  };

  // At least `wanted`, or all there is.
  std::size_t room(position tail, std::size_t wanted) noexcept {
    if (put_.seen + cells_.size() - tail < wanted) put_.seen = get_.mine.load(order::acquire);  // sync: spsc-get
    return put_.seen + cells_.size() - tail;
  }
  std::size_t filled(position head, std::size_t wanted) noexcept {
    if (get_.seen - head < wanted) get_.seen = put_.mine.load(order::acquire);  // sync: spsc-put
    return get_.seen - head;
  }

  bool insert(kept& e) noexcept {
    const position tail = put_.mine.load(order::relaxed);
    if (room(tail, 1) == 0) return false;
    cells_[tail & mask_].put(std::move(e));
    put_.mine.store(tail + 1, order::release);  // sync: spsc-put
    return true;
  }

  std::optional<kept> remove() noexcept {
    const position head = get_.mine.load(order::relaxed);
    if (filled(head, 1) == 0) return std::nullopt;
    std::optional<kept> e(cells_[head & mask_].take());
    get_.mine.store(head + 1, order::release);  // sync: spsc-get
    return e;
  }

  cells<held<kept>, Memory> cells_;
  const std::size_t mask_;
  side put_;
  side get_;
};

}  // namespace polder::ds
