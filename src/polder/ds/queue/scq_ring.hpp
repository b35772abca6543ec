#pragma once
// scq_ring — a ring of elements of any size behind two rings of their places: those that are free and those that are filled.
//
//   paper      Nikolaev, "A scalable, portable, and memory-efficient lock-free FIFO queue", DISC 2019, sec. 3 and fig. 4
//   progress   lock-free
//   in malloc  yes, once it is made
//
//     free place ── get from free_ ──▶ [put: element] ── put to filled_ ──▶ filled ── get from filled_ ──▶ [get: take]
//         ▲                                                                                                   │
//         └────────────────────────────────── put to free_ ◀──────────────────────────────────────────────────┘
//
// Invariant: each place is in one of the rings or one thread's. The elements are those of the places in filled_. A put that
// finds no free place says full, though some of them may be on their way from a getter back to free_.
#include <cstddef>
#include <optional>
#include <utility>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/cells.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/index_ring.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/ring_capacity.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class scq_ring : public collection<scq_ring<T, R, Memory>, T, in_node<T>>,
                 public queue_names<scq_ring<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "scq-ring",
      .title = "scalable circular queue (SCQ)",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .capacity = "a power of two; full may be said while getters are at work",
      .paper = "Nikolaev, DISC 2019",
      .year = 2019,
      .parameters = "capacity (4096), rounded up to a power of two",
  };
  using kept = typename in_node<T>::kept;

  // Throws std::invalid_argument, std::bad_alloc.
  explicit scq_ring(std::size_t capacity = 4096)
      : places_(ring_capacity(capacity, info.name)),
        free_(places_.size(), index_ring<Memory>::at_first::full),
        filled_(places_.size(), index_ring<Memory>::at_first::empty) {}
  scq_ring(const scq_ring&) = delete;
  scq_ring& operator=(const scq_ring&) = delete;
  ~scq_ring() {
    while (remove()) {
    }
  }

  std::size_t capacity() const noexcept { return places_.size(); }

 private:
  friend collection<scq_ring, T, in_node<T>>;

  bool insert(kept& e) noexcept {
    const auto i = free_.get();
    if (i == free_.none()) return false;
    places_[i].put(std::move(e));
    filled_.put(i);
    return true;
  }
  std::optional<kept> remove() noexcept {
    const auto i = filled_.get();
    if (i == filled_.none()) return std::nullopt;
    std::optional<kept> e(places_[i].take());
    free_.put(i);
    return e;
  }

  cells<held<kept>, Memory> places_;
  index_ring<Memory> free_;
  index_ring<Memory> filled_;
};

}  // namespace polder::ds
