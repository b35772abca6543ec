#pragma once
// sequential_queue — a linked list of elements, first in first out, for one thread at a time.
//
//   paper      Knuth, The Art of Computer Programming, vol. 1, sec. 2.2.3
//   deviation  the sentinel before the first node is a member, so that an empty queue needs no node
//
// Nodes are made before and freed after, by whoever locks for a put or a take: nothing in here allocates or throws.
//
// Invariant: from before_ along next to *last_, whose next is null; last_ is before_ itself when there is no element.
#include <utility>

#include <polder/ds/parts/held.hpp>

namespace polder::ds {

template <class E, class Memory>
class sequential_queue {
  struct link {
    link* next = nullptr;
  };

 public:
  struct node : link, Memory {
    explicit node(E&& e) noexcept : element(std::move(e)) {}
    held<E> element;
  };

  sequential_queue() noexcept = default;
  sequential_queue(const sequential_queue&) = delete;
  sequential_queue& operator=(const sequential_queue&) = delete;

  void put(node* n) noexcept {
    last_->next = n;
    last_ = n;
  }
  // The first node, or null.
  node* take() noexcept {
    node* const first = static_cast<node*>(before_.next);
    if (first == nullptr) return nullptr;
    before_.next = first->next;
    if (last_ == first) last_ = &before_;
    return first;
  }
  bool empty() const noexcept { return before_.next == nullptr; }

 private:
  link before_;
  link* last_ = &before_;
};

}  // namespace polder::ds
