#pragma once
// ts_queue_buffer — one thread's list of a time-stamped queue: its owner puts at one end, everybody takes at the other.
//
//   paper      Dodds, Haas and Kirsch, POPL 2015, sec. 7; Haas, thesis, 2015
//   progress   put: wait-free; oldest: lock-free; take: wait-free
//   in malloc  no: the first put of a thread allocates twice
//
// States of a node. An arrow is one store or one successful CAS; in brackets, what the thread that made it owes.
//
//             put: the last one's newer       take: oldest_ [take the element; retire the node before]
//     made ─────────────────────────────▶ inside ─────────────────────────▶ before the oldest ──────▶ unlinked
//
// Invariant: from oldest_ along newer to the last node; the first is a node whose element has been taken, or the one
// without that the first put makes. The last one is never unlinked, so its owner may keep it.
#include <cstdint>
#include <utility>

#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/stamped.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Kept, class Time, class Header, class Memory>
class ts_queue_buffer {
 public:
  struct node : Header, Memory {
    node() noexcept = default;
    explicit node(Kept&& e) noexcept : element(std::move(e)) {}
    // newer — the next node, or null. Written once, by the owner; read by who looks for the oldest.
    //   order  structure: who protects a node sees it as it was made
    atomic<node*> newer;
    stamped<Time> stamp;
    std::uint64_t number = 0;  // in the order of the puts; before it is linked
    held<Kept> element;        // before it is linked; taken by who took the node
  };

  // Slots of a guard, which the functions below use.
  enum slot : unsigned { at_front, at_first, front, chosen };

  struct place {
    node* before = nullptr;  // null: nothing was ever put
    node* first = nullptr;   // null: empty
    std::uint64_t number() const noexcept { return before == nullptr ? 0 : before->number; }
  };

  // The owner. Throws std::bad_alloc, changing nothing.
  template <class Guard>
  node* put(Guard& g, Kept& e) {
    if (last_ == nullptr) {
      last_ = g.template make<node>();
      oldest_.store(last_, order::release);  // sync: tsq-take
    }
    node* const n = g.template make<node>(std::move(e));
    n->number = last_->number + 1;
    last_->newer.store(n, order::release);  // sync: structure
    return last_ = n;
  }

  // In the slots at_front and at_first.
  template <class Guard>
  place oldest(Guard& g) {
    for (;;) {
      node* const before = g.protect(at_front, oldest_);
      if (before == nullptr) return {};
      node* const first = g.protect(at_first, before->newer);
      // Only while it is the front is what it leads to in the list.
      if (oldest_.load(order::acquire) == before) return {before, first};  // sync: tsq-take
    }
  }
  // Keeps it in the slots front and chosen.
  template <class Guard>
  static void hold(Guard& g, const place& p) {
    g.hold(front, p.before);
    g.hold(chosen, p.first);
  }

  // False: another was first. Else the element of p.first is the caller's, and p.before is to be retired.
  bool take(const place& p) noexcept {
    node* now = p.before;
    return oldest_.cas(now, p.first, order::release, order::relaxed);  // sync: tsq-take
  }

  // No other thread is about any more, and all elements have been taken.
  template <class Guard>
  void end(Guard& g) {
    if (node* const n = oldest_.load(order::relaxed)) g.unmake(n);
  }

 private:
  // oldest_ — the node before the first element's. Written by who takes, and by the first put; read by all.
  //   order  tsq-take: who sees a node here sees it as it was made, and what was before the take
  //   ABA    guards keep the nodes that are compared from being used again
  atomic<node*> oldest_;
  node* last_ = nullptr;  // owner only
};

}  // namespace polder::ds
