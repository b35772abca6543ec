#pragma once
// ts_stack_buffer — one thread's list of a time-stamped stack: its owner puts on top, everybody takes.
//
//   paper      Dodds, Haas and Kirsch, POPL 2015, fig. 3 and 4
//   progress   put, youngest, take: lock-free; they repeat only when another thread's put, take or unlinking got
//              through
//   in malloc  no
//   deviation  taken is a mark in the word that leads to the next older node, and a node is unlinked once, by one
//              CAS: off the top by anybody, below the top by the owner. The published one writes these words plainly,
//              so that a node may come back after it was unlinked, which only a memory that frees nothing allows
//
// States of a node. An arrow is one successful CAS; in brackets, what the thread that made it owes.
//
//             put: top_               take: mark in older [the element]      unlink: top_, or the word above [retire]
//     made ─────────────▶ inside ───────────────────────────────────▶ taken ──────────────────────────────▶ unlinked
//
// Invariant: all nodes that are inside can be reached from top_ along older, the younger before the older; older of a
// taken node never changes. Nodes that are taken and still linked are below one that is inside, at most one for each
// thread that was about to take it while others were put above, or on top, where the next to come unlinks them.
#include <cstdint>
#include <utility>

#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/raised.hpp>
#include <polder/ds/parts/stamped.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/marked_pointer.hpp>

namespace polder::ds {

template <class Kept, class Time, class Header, class Memory>
class ts_stack_buffer {
 public:
  struct node;
  using link = marked_pointer<node, 1>;
  static constexpr std::uintptr_t taken = 1;

  struct node : Header, Memory {
    explicit node(Kept&& e) noexcept : element(std::move(e)) {}
    // older — the next node, and whether this one is taken. Written by who takes, and by the owner, which unlinks the
    // next one; read by all who pass.
    //   order  ts-take: who sees a node as taken sees how far its taker raised the buffer's number, and what he had put; so
    //            does who sees what it led to unlinked
    //   ABA    a node is not linked again, and a guard keeps it from being used again
    atomic<link> older;
    stamped<Time> stamp;
    plain<std::uint64_t> number;  // before it is linked
    held<Kept> element;           // before it is linked; taken by who set the mark
  };

  // Slots of a guard, which the functions below use.
  enum slot : unsigned { at_top, below, own, chosen };

  // The owner. The guard keeps n in its slot `own`, so that it may still be stamped when it has been taken.
  template <class Guard>
  void put(Guard& g, node* n) {
    const std::uint64_t number = number_.get() + 1;
    number_.set(number);
    n->number.set(number);
    made_.store(n, order::relaxed);
    g.protect(own, made_);
    node* top;
    do {
      top = youngest(g);
      n->older.store(link(top), order::relaxed);
    } while (!top_.cas(top, n, order::release, order::relaxed));  // sync: structure
    node* const under = n->older.load(order::relaxed).pointer();
    if (under != nullptr) tidy(g, under);
  }

  // The node that was put last and is not taken, in the slot at_top; null: none.
  template <class Guard>
  node* youngest(Guard& g) {
    for (;;) {
      node* const top = g.protect(at_top, top_);
      if (top == nullptr) return nullptr;
      const link l = top->older.load(order::acquire);  // sync: ts-take
      if (!l.has(taken)) return top;
      unlink(g, top, l);
    }
  }

  // False: another was first. Else the element is the caller's, and then bury() its duty. The guard keeps the node.
  bool take(node* n) noexcept {
    raised_.to(n->number.get());
    link l = n->older.load(order::relaxed);
    do {
      if (l.has(taken)) return false;
    } while (!n->older.cas(l, l.with(taken), order::release, order::relaxed));  // sync: ts-take
    return true;
  }
  // Acquired: the owner may have unlinked what was below since the node was found, and who unlinks it tells of those takers too.
  template <class Guard>
  void bury(Guard& g, node* n) {
    unlink(g, n, n->older.load(order::acquire));  // sync: ts-take
  }

  raised& numbers() noexcept { return raised_; }

 private:
  // If it is on top. Released: who sees another top sees what a taker did before.
  template <class Guard>
  void unlink(Guard& g, node* n, link l) {
    node* top = n;
    if (top_.cas(top, l.pointer(), order::release, order::relaxed)) g.retire(n);  // sync: structure, ts-take
  }

  // The owner unlinks what is taken below a node that is inside. n is in the slot at_top, and was top.
  template <class Guard>
  void tidy(Guard& g, node* n) {
    for (;;) {
      link l = g.protect(below, n->older);
      node* const next = l.pointer();
      // Only of a node that is inside does what it leads to belong to the list.
      if (l.has(taken) || next == nullptr) return;
      const link beyond = next->older.load(order::acquire);  // sync: ts-take
      if (!beyond.has(taken)) return;
      if (n->older.cas(l, beyond.without(taken), order::release, order::relaxed)) g.retire(next);  // sync: ts-take
    }
  }

  // top_ — the node on top, or null. Written by the owner and by who unlinks; read by all.
  //   order  structure: who protects a node on top sees it as it was made, and those below. All writes are
  //          read-modify-writes, so
  //            what a put released is handed on
  //          ts-take: as at older: of nodes that were unlinked too
  //   ABA    guards keep the nodes that are compared from being used again
  atomic<node*> top_;
  raised raised_;
  // made_ — the node that was put last. Written by the owner before it links it; read where its guard protects it, which with
  // helping schemes others do for it, maybe when it is back from put() (smr/era/wait_free_eras.hpp): so it is no local.
  //   order  relaxed: who reads it for the owner follows it nowhere, and takes no part once the owner has an answer
  //   ABA    never compared
  atomic<node*> made_;
  plain<std::uint64_t> number_;  // owner only: of the last node
};

}  // namespace polder::ds
