#pragma once
// partial_queue — the partial superblocks of a size class, first in, first out.
//
//   paper      Michael, PLDI 2004, section 3.2.6, "which we prefer"; the queue is Michael and Scott, PODC 1996
//   progress   lock-free
//   in malloc  yes: allocates nothing
//   deviation  counted indices, as in the queue's own paper, where the allocator's paper has ideal LL/SC because a pointer
//              leaves no room for a count: descriptors have numbers. Nodes need no memory of their own: each descriptor
//              brings one along; the node that a dequeue sets free becomes that of the descriptor it returns
//
//        head                              tail
//         │                                 │ (or the one before: then the next put or get helps it on)
//         ▼                                 ▼
//       node ──▶ node(item) ──▶ … ──▶ node(item) ──▶ none
//
// Invariant: nodes in queues + nodes that descriptors bring along == descriptors + queues. A thread that ends between two
// steps takes along no more than the one descriptor it holds.
//
// Table: at(number) -> descriptor&, of which `link`, `item` and `node` are used here.
#include <cstdint>

#include <polder/heap/michael/counted.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap::michael {

class partial_queue {
 public:
  static constexpr bool needs_spare = true;

  partial_queue() noexcept = default;
  partial_queue(const partial_queue&) = delete;
  partial_queue& operator=(const partial_queue&) = delete;

  // Before the queue is shared. `spare`: number of a descriptor that is used for nothing else.
  template <class Table>
  void begin(Table& table, std::uint32_t spare) noexcept {
    table.at(spare).link.store(counted(), order::relaxed);
    head_.store(counted(spare, 0), order::relaxed);
    tail_.store(counted(spare, 0), order::relaxed);
  }

  // d is the caller's, and no longer after the CAS on the link.
  template <class Table, class Descriptor>
  void put(Table& table, Descriptor& d) noexcept {
    const std::uint32_t node = d.node.get();
    auto& mine = table.at(node);
    mine.item.store(d.number, order::relaxed);
    // Counted on: who still holds the link's old value, from the node's earlier place, must not succeed.
    mine.link.store(mine.link.load(order::relaxed).then(0), order::relaxed);
    for (;;) {
      counted tail = tail_.load(order::acquire);  // sync: queue-node
      auto& last = table.at(tail.number());
      counted next = last.link.load(order::acquire);  // sync: queue-link
      if (tail_.load(order::relaxed) != tail) continue;
      if (next.number() != 0) {
        tail_.cas(tail, tail.then(next.number()), order::release, order::relaxed);  // sync: queue-node
        continue;
      }
      if (last.link.cas(next, next.then(node), order::release, order::relaxed)) {  // sync: queue-link
        tail_.cas(tail, tail.then(node), order::release, order::relaxed);          // sync: queue-node
        return;
      }
    }
  }

  // The descriptor that waited longest; it is the caller's. Null: none.
  template <class Table>
  auto get(Table& table) noexcept -> decltype(&table.at(0)) {
    for (;;) {
      counted head = head_.load(order::acquire);                               // sync: queue-node
      counted tail = tail_.load(order::acquire);                               // sync: queue-node
      const counted next = table.at(head.number()).link.load(order::acquire);  // sync: queue-link
      if (head_.load(order::relaxed) != head) continue;
      if (next.number() == 0) return nullptr;
      if (head.number() == tail.number()) {
        tail_.cas(tail, tail.then(next.number()), order::release, order::relaxed);  // sync: queue-node
        continue;
      }
      const std::uint32_t item =
          table.at(next.number()).item.load(order::relaxed);  // may be stale: then the CAS fails
      if (head_.cas(head, head.then(next.number()), order::release, order::relaxed)) {  // sync: queue-node
        auto& d = table.at(item);
        d.node.set(head.number());
        return &d;
      }
    }
  }

  // Sees to it that at most half of the descriptors here are empty: takes out the empty ones it meets until it has moved two
  // others from the front to the end. Called each time a descriptor becomes empty that may lie here. (The paper stops at
  // the first empty one too; then half of the longest the queue ever was can be empty when it is short again.) Those taken
  // out go to retire(d).
  template <class Table, class IsEmpty, class Retire>
  void remove_empty(Table& table, IsEmpty is_empty, Retire retire) noexcept {
    for (unsigned moved = 0; moved != 2;) {
      auto* const d = get(table);
      if (!d) return;
      if (is_empty(*d)) {
        retire(*d);
      } else {
        put(table, *d);
        ++moved;
      }
    }
  }

  // Only while nobody is inside.
  template <class Table, class Each>
  void each(Table& table, Each f) const noexcept {
    counted at = head_.load(order::acquire);                                      // sync: queue-node
    while ((at = table.at(at.number()).link.load(order::acquire)).number() != 0)  // sync: queue-link
      f(table.at(table.at(at.number()).item.load(order::relaxed)));
  }

 private:
  // head_, tail_ — the node before the first, and the last or the one before it.
  //   written by  any thread, by CAS
  //   order       queue-node: who takes a node out, or helps, has read what it needed of it before the CAS is seen; who
  //                 sees a node as head or tail sees it as it was put in
  //   ABA         counted
  //
  // link (in the descriptor) — the node after; item — the descriptor it stands for.
  //   written by  who brings the node, before it is linked; then by CAS, once, when another is linked behind it
  //   order       queue-link: the putter's release publishes the item, the link, and all it did to the descriptor
  //   ABA         counted, and counted on when the node is used again
  atomic<counted> head_;
  atomic<counted> tail_;
};

}  // namespace polder::heap::michael
