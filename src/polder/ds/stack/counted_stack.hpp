#pragma once
// counted_stack — a Treiber stack of which push and pop count: each may ask to be the n-th or not to happen.
//
//   paper      Treiber, IBM RJ 5118, 1986; counts beside the top: Haas et al., CF 2013, sec. 3, for its LRU balancer
//   progress   lock-free: an operation repeats only when another got through
//   in malloc  no: push allocates, and so does pop
//   deviation  there the counts are 8 bits each of the top's 16-bit tag and wrap at 256. Here they have 64, and the top is a
//              pointer to them: each operation leaves a new frame. A push has one in its node; a pop pays with an allocation
//
//             push [retire the frame, unless it is a node's]
//          ┌───────────────────┐
//          ▼                   │
//     top: frame {pushes, pops, first} ──▶ node {its own frame, next} ──▶ node …
//          ▲                   │
//          └───────────────────┘
//             pop [take the element; retire the node, and the frame, unless it is that node's]
//
// Invariant: top's counts are how many pushes and pops there have been; the elements are those of the nodes from top's first
// along next, which are pushes - pops. What a frame says never changes.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/parts/element.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/place.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory>
class counted_stack {
 public:
  using kept = typename in_node<T>::kept;

  // Throws std::bad_alloc.
  explicit counted_stack(typename R::domain& domain) : domain_(domain) {
    guard g(domain_);
    top_.store(g.template make<frame>(), order::relaxed);
  }
  counted_stack(const counted_stack&) = delete;
  counted_stack& operator=(const counted_stack&) = delete;
  ~counted_stack() {
    guard g(domain_);
    frame* const top = top_.load(order::relaxed);
    node* n = top->first.load(order::relaxed);
    if (n != top) g.unmake(top);
    while (n != nullptr) {
      static_cast<void>(n->element.take());
      g.unmake(std::exchange(n, n->next.get()));
    }
  }

  // Pushes if `before` pushes were done until now, whatever was popped; else false. Throws std::bad_alloc.
  bool insert_after(std::uint64_t before, kept& e) {
    guard g(domain_);
    node* n = nullptr;
    for (;;) {
      frame* now = g.protect(0, top_);
      if (now->pushes.get() != before) break;
      if (n == nullptr) n = g.template make<node>(std::move(e));
      node* const first = now->first.load(order::relaxed);
      n->pushes.set(before + 1);
      n->pops.set(now->pops.get());
      n->first.store(n, order::relaxed);
      n->next.set(first);
      frame* expected = now;
      if (!top_.cas(expected, n, order::release, order::relaxed)) continue;  // sync: frame-push
      if (now != first) g.retire(now);
      return true;
    }
    if (n != nullptr) {
      std::destroy_at(std::addressof(e));
      std::construct_at(std::addressof(e), n->element.take());
      g.unmake(n);
    }
    return false;
  }

  // Pops into e, which is without, if `before` pops were done until now. Empty: `seen` is how many pushes were.
  turn remove_after(std::uint64_t before, std::optional<kept>& e, std::uint64_t& seen) {
    guard g(domain_);
    frame* left = nullptr;
    turn how = turn::passed;
    for (;;) {
      frame* now = g.protect(0, top_);
      if (now->pops.get() != before) break;
      node* const first = g.protect(1, now->first);
      // Only while the frame is top is its first in the stack: not unlinked, so protected from here on.
      if (top_.load(order::acquire) != now) continue;  // sync: frame-push, frame-pop
      if (first == nullptr) {
        seen = now->pushes.get();
        how = turn::empty;
        break;
      }
      if (left == nullptr) left = g.template make<frame>();
      left->pushes.set(now->pushes.get());
      left->pops.set(before + 1);
      left->first.store(first->next.get(), order::relaxed);
      frame* expected = now;
      if (!top_.cas(expected, left, order::acq_rel, order::relaxed)) continue;  // sync: frame-push, frame-pop
      e.emplace(first->element.take());
      if (now != first) g.retire(now);
      g.retire(first);
      return turn::taken;
    }
    if (left != nullptr) g.unmake(left);
    return how;
  }

 private:
  struct node;
  struct frame : R::header, Memory {
    // Written before the frame is top, read by who sees it there.
    plain<std::uint64_t> pushes, pops;
    atomic<node*> first;  // the same; an atomic for protect() alone
  };
  struct node : frame {
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    plain<node*> next;   // written before the node is linked
    held<kept> element;  // the same; taken by who unlinked the node
  };
  using guard = typename R::template guard<2>;

  typename R::domain& domain_;
  // top_ — the frame of now. Written by push and pop, read by both.
  //   order  frame-push: who sees a frame sees what it says, and the nodes from it on
  //          frame-pop: the same; and who finds the stack empty knows of every pop, as in treiber_stack
  //   ABA    a guard keeps the frame that was read from being used again
  alignas(false_sharing_range) atomic<frame*> top_;
};

}  // namespace polder::ds
