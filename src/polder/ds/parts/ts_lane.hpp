#pragma once
// ts_lane — one thread's list that is taken from at both ends, and in between: its owner puts at the young end.
//
//   paper      Haas, thesis, 2015: the list of the TS deque, of which this is one side
//   progress   put, take: lock-free; youngest, oldest, find: wait-free in the number of nodes. A thread that stalls
//              while it unlinks keeps what others have taken linked, and nobody waiting
//   in malloc  no
//   deviation  one thread at a time unlinks, and does so for the others; the published one lets all write the links
//              at once, so that a node may come back after it was unlinked, which only a memory that frees nothing
//              allows
//   needs      regions: who passes reads on from nodes that are unlinked meanwhile. With hazard pointers a step to a
//              neighbour would have to see that the node it came from was not unlinked then, by a mark in both its
//              links
//
// States of a node. An arrow is one store or exchange; in brackets, what the thread that made it owes.
//
//             put: newest_, then      take: taken              bury: waiting_             by who sweeps
//             the last one's newer    [element, bury]          [sweep, or somebody does]  [retire]
//     made ─────────────────▶ inside ───────────────▶ taken ─────────────────▶ waiting ───────────────▶ unlinked
//
// Invariant: from base_ along newer, and from newest_ along older to base_, all nodes that are inside, in the order
// of their puts. The last node is never unlinked, so its owner may keep it; one that is taken waits for the next put.
#include <cstdint>
#include <utility>

#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/raised.hpp>
#include <polder/ds/parts/stamped.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Kept, class Time, class Header, class Memory>
class ts_lane {
  // Both links: written by the owner when it puts, and by who sweeps; read by all who pass. A node's stay when it is
  // unlinked.
  //   order  lane-link: who follows one sees the node as it was made, and what was done before nodes in between were
  //          unlinked
  //   ABA    never compared
  struct joint {
    atomic<joint*> older;
    atomic<joint*> newer;
  };

 public:
  struct node : Header, Memory, private joint {
    explicit node(Kept&& e) noexcept : element(std::move(e)) {}
    stamped<Time> stamp;
    plain<std::uint64_t> number;  // in the order of the puts; before it is linked
    held<Kept> element;           // before it is linked; taken by who took the node

   private:
    friend ts_lane;
    // taken — set once, by who takes; read by who passes. Order, lane-take: who sees it sees how far numbers() was
    // raised.
    atomic<bool> taken{false};
    plain<node*> waits;  // the next of those that wait; by who buries it, then by who sweeps
  };

  ts_lane() noexcept : newest_(&base_), last_(&base_) {}

  // The owner.
  template <class Guard>
  void put(Guard& g, node* n) {
    joint* const before = last_.get();
    number_.set(number_.get() + 1);
    n->number.set(number_.get());
    n->older.store(before, order::relaxed);
    // First: a node with a newer one may be unlinked, and must not be found here then.
    newest_.store(n, order::release);        // sync: lane-link
    before->newer.store(n, order::release);  // sync: lane-link
    last_.set(n);
    if (before != &base_ && static_cast<node*>(before)->taken.load(order::relaxed)) sweep(g);
  }

  // Null: none that is not taken.
  node* youngest() noexcept {
    for (joint* j = newest_.load(order::acquire); j != &base_;) {  // sync: lane-link
      node* const n = static_cast<node*>(j);
      if (!n->taken.load(order::acquire)) return n;  // sync: lane-take
      j = n->older.load(order::acquire);             // sync: lane-link
    }
    return nullptr;
  }
  node* oldest() noexcept {
    return find([](node&) { return true; });
  }
  // From the oldest on, the first that is not taken of which f returns true.
  template <class F>
  node* find(F&& f) {
    for (joint* j = base_.newer.load(order::acquire); j != nullptr;) {  // sync: lane-link
      node* const n = static_cast<node*>(j);
      if (!n->taken.load(order::acquire) && f(*n)) return n;  // sync: lane-take
      j = n->newer.load(order::acquire);                      // sync: lane-link
    }
    return nullptr;
  }

  // False: another was first. Else the element is the caller's, and then bury() its duty.
  bool take(node* n) noexcept {
    raised_.to(n->number.get());
    return !n->taken.exchange(true, order::release);  // sync: lane-take
  }
  template <class Guard>
  void bury(Guard& g, node* n) {
    node* now = waiting_.load(order::relaxed);
    do {
      n->waits.set(now);
    } while (!waiting_.cas(now, n, order::release, order::relaxed));  // sync: lane-waiting
    sweep(g);
  }

  raised& numbers() noexcept { return raised_; }

  // No other thread is about any more. Elements that are inside are destroyed.
  template <class Guard>
  void end(Guard& g) {
    for (joint* j = base_.newer.load(order::relaxed); j != nullptr;) {
      node* const n = static_cast<node*>(j);
      j = n->newer.load(order::relaxed);
      if (!n->taken.load(order::relaxed)) n->element.take();
      g.unmake(n);
    }
  }

 private:
  template <class Guard>
  void sweep(Guard& g) {
    do {
      // Who sweeps now gives the word back by an exchange too, which sees this one, so it sees what waits.
      if (sweeping_.exchange(true, order::acq_rel)) return;                             // sync: lane-sweep
      node* const lists[] = {late_.get(), waiting_.exchange(nullptr, order::acquire)};  // sync: lane-waiting
      late_.set(nullptr);
      for (node* n : lists) {
        while (n != nullptr) {
          node* const next = n->waits.get();
          if (!unlink(g, n)) {
            n->waits.set(late_.get());
            late_.set(n);
          }
          n = next;
        }
      }
      sweeping_.exchange(false, order::acq_rel);  // sync: lane-sweep
    } while (waiting_.load(order::relaxed) != nullptr);
  }

  // False: it is the last, or the link to the last is not there yet.
  template <class Guard>
  bool unlink(Guard& g, node* n) {
    joint* const newer = n->newer.load(order::acquire);  // sync: lane-link
    if (newer == nullptr) return false;
    joint* const older = n->older.load(order::relaxed);
    older->newer.store(newer, order::release);  // sync: lane-link
    newer->older.store(older, order::release);  // sync: lane-link
    g.retire(n);
    return true;
  }

  joint base_;  // before the oldest node
  // newest_ — the last node, or base_. Written by the owner, read by who looks for the youngest. Order: lane-link.
  atomic<joint*> newest_;
  raised raised_;
  // waiting_ — nodes that were taken, along waits. Written by who buries, taken whole by who sweeps, so ABA cannot
  // hurt.
  //   order  lane-waiting: who sweeps sees what a taker did
  atomic<node*> waiting_;
  // sweeping_ — one thread at a time unlinks. Written by exchange only.
  //   order  lane-sweep: the next to sweep sees the links as the last one left them, and the last one what waits
  atomic<bool> sweeping_;
  // late_ — who sweeps: along waits, what was taken but had no newer one when it was to be unlinked. Two at most: the last
  // node may be found from newest_, and taken, before the one before it leads to it.
  plain<node*> late_;
  plain<joint*> last_;           // owner only
  plain<std::uint64_t> number_;  // owner only: of the last node
};

}  // namespace polder::ds
