#pragma once
// ring_of_places — elements of any size behind two rings of their places: those that are free and those that are filled.
//
//   paper      Nikolaev, "A scalable, portable, and memory-efficient lock-free FIFO queue", DISC 2019, sec. 3 and fig. 4
//   progress   that of the rings of places
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

#include <polder/ds/parts/cells.hpp>
#include <polder/ds/parts/held.hpp>

namespace polder::ds {

// Who: what the rings' put and get are told of the caller.
template <class E, class Memory, class Ring>
class ring_of_places {
 public:
  // Throws std::bad_alloc.
  template <class... How>
  explicit ring_of_places(std::size_t n, How... how)
      : places_(n), free_(n, Ring::at_first::full, how...), filled_(n, Ring::at_first::empty, how...) {}

  std::size_t size() const noexcept { return places_.size(); }

  // Throws std::bad_alloc.
  template <class Who>
  void admit(Who who) {
    free_.admit(who);
    filled_.admit(who);
  }

  // False: it is full.
  template <class... Who>
  bool insert(E& e, Who... who) noexcept {
    const auto i = free_.get(who...);
    if (i == free_.none()) return false;
    places_[i].put(std::move(e));
    filled_.put(i, who...);
    return true;
  }
  // Nothing: it is empty.
  template <class... Who>
  std::optional<E> remove(Who... who) noexcept {
    const auto i = filled_.get(who...);
    if (i == filled_.none()) return std::nullopt;
    std::optional<E> e(places_[i].take());
    free_.put(i, who...);
    return e;
  }

 private:
  cells<held<E>, Memory> places_;
  Ring free_;
  Ring filled_;
};

}  // namespace polder::ds
