#pragma once
// vyukov_ring — a ring whose cells know whose turn it is.
//
//   paper      Vyukov, "Bounded MPMC queue", 1024cores.net, 2010
//   progress   blocking in one sense: nobody waits for ever, but who stalls between the claim of a cell and its
//              publication hides what was put behind it, and the room behind it, until it goes on
//   in malloc  no
//   deviation  an operation that finds its cell claimed and not yet finished looks again, then gives the processor away
//              once, since the one that claimed it may have been taken off it; only then it says full or empty
//
// States of cell i in round r, where position p = r * capacity + i and turn is the cell's word. In brackets, what is owed.
//
//                 claim: CAS of tail_ p → p + 1      publish: turn p → p + 1
//     turn = p  ─────────────────────────▶ [element] ────────────────────────▶ turn = p + 1
//        ▲                                                                        │ claim: CAS of head_ p → p + 1
//        └── (the next round's p) ◀────────── turn p + 1 → p + capacity ── [take] ┘
//
// Invariant: head_ <= tail_ <= head_ + capacity; the elements are those of the positions from head_ to tail_, the claimed
// and not yet published included.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/cells.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/patience.hpp>
#include <polder/ds/parts/ring_capacity.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class vyukov_ring : public collection<vyukov_ring<T, R, Memory>, T, in_node<T>>,
                    public queue_names<vyukov_ring<T, R, Memory>, T> {
 public:
  static constexpr collection_info info = {
      .name = "vyukov-ring",
      .title = "Vyukov's bounded ring",
      .kind = shape::queue,
      .order = semantics::linearizable,
      .empty = emptiness::may_err,
      .putters = "blocking: who stalls inside hides what is put behind it; nobody waits for it for long",
      .getters = "blocking: who stalls inside takes the room behind it; nobody waits for it for long",
      .capacity = "a power of two; full may err as empty does",
      .paper = "Vyukov, 1024cores.net, 2010",
      .year = 2010,
      .parameters = "capacity (4096), rounded up to a power of two",
  };
  using kept = typename in_node<T>::kept;

  // Throws std::invalid_argument, std::bad_alloc.
  explicit vyukov_ring(std::size_t capacity = usual_ring_capacity)
      : cells_(ring_capacity(capacity < 2 && capacity != 0 ? 2 : capacity, info.name)), mask_(cells_.size() - 1) {
    for (std::size_t i = 0; i != cells_.size(); ++i) cells_[i].turn.store(i, order::relaxed);
  }
  vyukov_ring(const vyukov_ring&) = delete;
  vyukov_ring& operator=(const vyukov_ring&) = delete;
  ~vyukov_ring() {
    while (remove()) {
    }
  }

  std::size_t capacity() const noexcept { return cells_.size(); }  // at least 2: with one, both turns are the same

 private:
  friend collection<vyukov_ring, T, in_node<T>>;
  using position = std::uint64_t;

  struct cell {
    // turn — whose it is: of the putter or the getter of which position. Written by the one whose turn it is, read by all
    //   that come to the cell.
    //   order  ring-filled, ring-emptied: who finds its turn sees what the one before did with the element
    //   ABA    it only grows
    atomic<position> turn;
    held<kept> element;  // of the one whose turn it is, once the position is claimed
  };

  bool insert(kept& e) noexcept {
    position at = tail_.load(order::relaxed);
    for (patience p;;) {
      cell& c = cells_[at & mask_];
      const position turn = c.turn.load(order::acquire);  // sync: ring-emptied
      if (turn == at) {
        if (!tail_.cas(at, at + 1, order::relaxed, order::relaxed)) continue;
        c.element.put(std::move(e));
        c.turn.store(at + 1, order::release);  // sync: ring-filled
        return true;
      }
      if (turn < at) {  // a round ago it was filled
        if (head_.load(order::relaxed) + cells_.size() <= at || !p.more()) return false;
      }
      at = tail_.load(order::relaxed);
    }
  }

  std::optional<kept> remove() noexcept {
    position at = head_.load(order::relaxed);
    for (patience p;;) {
      cell& c = cells_[at & mask_];
      const position turn = c.turn.load(order::acquire);  // sync: ring-filled
      if (turn == at + 1) {
        if (!head_.cas(at, at + 1, order::relaxed, order::relaxed)) continue;
        std::optional<kept> e(c.element.take());
        c.turn.store(at + cells_.size(), order::release);  // sync: ring-emptied
        return e;
      }
      if (turn <= at) {  // not filled yet
        if (tail_.load(order::relaxed) <= at || !p.more()) return std::nullopt;
      }
      at = head_.load(order::relaxed);
    }
  }

  cells<cell, Memory> cells_;
  const std::size_t mask_;
  // tail_ — the position of the next put. Written by who claims it, read by both. Relaxed: a cell's turn says what is in it.
  //   ABA  it only grows: 2^64 puts
  alignas(false_sharing_range) atomic<position> tail_;
  // head_ — the position of the next get. As tail_.
  alignas(false_sharing_range) atomic<position> head_;
};

}  // namespace polder::ds
