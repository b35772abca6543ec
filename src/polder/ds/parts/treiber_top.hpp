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
// Invariant: a linked node's next never changes. Node has plain<Node*> next.
#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Node>
class treiber_top {
 public:
  struct step {
    Node* top;  // null: it was empty
    bool popped;
  };

  bool try_push(Node* n) noexcept {
    Node* top = top_.load(order::relaxed);
    n->next.set(top);
    return top_.cas(top, n, order::release, order::relaxed);  // sync: structure
  }

  // The guard's slot 0 keeps the top.
  template <class Guard>
  step try_pop(Guard& g) {
    Node* top = g.protect(0, top_);
    if (top == nullptr) return {nullptr, false};
    Node* const popped = top;
    return {popped, top_.cas(top, popped->next.get(), order::relaxed, order::relaxed)};
  }

 private:
  // top_ — the node pushed last, or null. Written by push and pop, read by both.
  //   order  structure: who sees a node on top sees its element and its next, by the guard's acquire; a pop in between is a
  //          read-modify-write, so it hands on what the push before it released
  //   ABA    a guard keeps the node that was read from being used again
  alignas(false_sharing_range) atomic<Node*> top_;
};

}  // namespace polder::ds
