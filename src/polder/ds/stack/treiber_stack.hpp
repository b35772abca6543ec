#pragma once
// treiber_stack — a list behind one word.
//
//   paper      Treiber, "Systems programming: coping with parallelism", IBM RJ 5118, 1986
//   progress   lock-free: an operation repeats only when another got through
//   in malloc  no: put allocates
//   deviation  no counter beside the pointer: a guard keeps the node that was read from being used again
//
//             push                       pop [take the element, retire]
//     made ─────────▶ linked, on top ────────────────────────────────────▶ unlinked
//
// Invariant: the elements are those of the nodes from top_ along next, up to an end; a linked node's next never changes.
//
// Ends are numbered: the pop that empties the stack leaves one more than the push found that it undoes. So an empty stack
// whose end has the same number has had no push in between.
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/parts/place.hpp>
#include <polder/ds/parts/pointer_or_end.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class T, class R, class Memory = heap_memory, class Place = uncounted>
class treiber_stack : public collection<treiber_stack<T, R, Memory, Place>, T, in_node<T>>,
                      public stack_names<treiber_stack<T, R, Memory, Place>, T> {
 public:
  static constexpr collection_info info = {
      .name = "treiber-stack",
      .title = "Treiber stack",
      .kind = shape::stack,
      .order = semantics::linearizable,
      .putters = "lock-free",
      .getters = "lock-free",
      .paper = "Treiber, IBM RJ 5118, 1986",
      .year = 1986,
      .protection = needs::pointer,
  };
  using kept = typename in_node<T>::kept;

  explicit treiber_stack(typename R::domain& domain) noexcept : domain_(domain) {}
  treiber_stack(const treiber_stack&) = delete;
  treiber_stack& operator=(const treiber_stack&) = delete;
  ~treiber_stack() {
    while (remove()) {
    }
  }

  // What follows is for structures that are made of several (parts/distributed.hpp).

  // Throws std::bad_alloc; e is as it was then.
  bool insert(kept& e) {
    guard g(domain_);
    node* const n = g.template make<node>(std::move(e));
    link top = seen_by_push(g);
    do {
      n->next.set(top);
      if constexpr (Place::counts) {
        if (top.is_end()) n->place.first();
        else n->place.after(top.node()->place);
      }
    } while (!pushed(g, top, n));
    return true;
  }

  std::optional<kept> remove() {
    std::uint64_t ignored;
    return remove(ignored);
  }
  // Empty: `seen` is how often the stack became so until then.
  std::optional<kept> remove(std::uint64_t& seen) {
    guard g(domain_);
    for (;;) {
      link now = g.protect(0, top_);
      node* const top = now.node();
      if (top == nullptr) {
        seen = now.number();
        return std::nullopt;
      }
      const link next = top->next.get(), left = next.is_end() ? next.next_end() : next;
      if (!top_.cas(now, left, order::acq_rel, order::relaxed)) continue;  // sync: treiber-push, treiber-pop
      std::optional<kept> e(top->element.take());
      g.retire(top);
      return e;
    }
  }

  // How many are inside.
  std::uint64_t length()
    requires Place::counts
  {
    guard g(domain_);
    const link top = g.protect(0, top_);
    return top.is_end() ? 0 : top.node()->place.count();
  }

 private:
  friend collection<treiber_stack, T, in_node<T>>;

  struct node;
  using link = pointer_or_end<node>;
  struct node : R::header, Memory {
    explicit node(kept&& e) noexcept : element(std::move(e)) {}
    plain<link> next;                   // written before the node is linked
    [[no_unique_address]] Place place;  // the same: with itself, how many there are from here down
    held<kept> element;                 // the same; taken by who unlinked the node
  };
  using guard = typename R::template guard<1>;

  // A push reads from what is on top only where places are counted.
  link seen_by_push(guard& g) {
    if constexpr (Place::counts) return g.protect(0, top_);
    else return top_.load(order::relaxed);
  }
  bool pushed(guard& g, link& top, node* n) {
    if (top_.cas(top, link(n), order::release, order::relaxed)) return true;  // sync: treiber-push
    if constexpr (Place::counts) top = g.protect(0, top_);
    return false;
  }

  typename R::domain& domain_;
  // top_ — the node pushed last, or an end. Written by push and pop, read by both.
  //   order  treiber-push: who sees a node on top sees its element, its next and its place; a pop in between is a
  //          read-modify-write, so it hands on what the push before it released
  //          treiber-pop: who finds an end knows of every pop, and of what their threads had seen: several stacks are
  //          together empty by that (parts/exact_scan.hpp)
  //   ABA    a guard keeps the node that was read from being used again; ends are not used again
  alignas(false_sharing_range) atomic<link> top_;
};

}  // namespace polder::ds
