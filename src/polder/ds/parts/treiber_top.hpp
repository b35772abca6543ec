#pragma once
// treiber_top — a list behind one word, and one try to change it.
//
//   paper      Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986
//   progress   wait-free: a try fails when another one got through
//   in malloc  yes, if the guard is
//   deviation  no counter beside the pointer: a guard keeps the node that was read from being used again
//
//             push                       pop [take the element, retire]
//     made ─────────▶ linked, on top ────────────────────────────────────▶ unlinked
//
// Invariant: from the top along next to an end; a linked node's next never changes.
//
// Ends are numbered: the pop that empties the list leaves one more than the push found that it undoes. So an empty list whose
// end has the same number has had no push in between.
//
// Node has plain<pointer_or_end<Node>> next, and a place (parts/place.hpp) if nodes are counted.
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/ds/parts/pointer_or_end.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Node>
class treiber_top {
  static constexpr bool counts = requires(Node& n) { requires decltype(n.place)::counts; };

 public:
  using link = pointer_or_end<Node>;

  struct step {
    Node* top;  // null: it was empty
    bool popped;
    std::uint64_t seen;  // empty: how often it became so until then
  };

  template <class Guard>
  bool try_push(Guard& g, Node* n) {
    link top = counts ? g.protect(0, top_) : top_.load(order::relaxed);  // what is not read need not be kept
    n->next.set(top);
    if constexpr (counts) {
      if (top.is_end()) n->place.first();
      else n->place.after(top.node()->place);
    }
    return top_.cas(top, link(n), order::release, order::relaxed);  // sync: structure, treiber-push
  }

  // The guard's slot 0 keeps the top.
  template <class Guard>
  step try_pop(Guard& g) {
    link now = g.protect(0, top_);
    Node* const top = now.node();
    if (top == nullptr) return {nullptr, false, now.number()};
    const link next = top->next.get(), left = next.is_end() ? next.next_end() : next;
    return {top, top_.cas(now, left, order::acq_rel, order::relaxed), 0};  // sync: treiber-push, treiber-pop
  }

  // How many are inside, where they are counted.
  template <class Guard>
  std::uint64_t length(Guard& g) {
    const link top = g.protect(0, top_);
    return top.is_end() ? 0 : top.node()->place.count();
  }

 private:
  // top_ — the node pushed last, or an end. Written by push and pop, read by both.
  //   order  structure: who sees a node on top sees its element, its next and its place, by the guard's acquire; a pop in
  //          between is a read-modify-write, so it hands on what the push before it released
  //          treiber-pop: who finds an end knows of every pop, and of what their threads had seen: several stacks are
  //          together empty by that (parts/exact_scan.hpp)
  //   ABA    a guard keeps the node that was read from being used again; ends are not used again
  alignas(false_sharing_range) atomic<link> top_;
};

}  // namespace polder::ds
