#pragma once
// sequential_stack — a linked list of elements, last in first out, for one thread at a time. As sequential_queue.
#include <utility>

#include <polder/ds/parts/held.hpp>

namespace polder::ds {

template <class E, class Memory>
class sequential_stack {
 public:
  struct node : Memory {
    explicit node(E&& e) noexcept : element(std::move(e)) {}
    node* next = nullptr;
    held<E> element;
  };

  sequential_stack() noexcept = default;
  sequential_stack(const sequential_stack&) = delete;
  sequential_stack& operator=(const sequential_stack&) = delete;

  void put(node* n) noexcept { n->next = std::exchange(top_, n); }
  // The top node, or null.
  node* take() noexcept {
    node* const n = top_;
    if (n != nullptr) top_ = n->next;
    return n;
  }
  bool empty() const noexcept { return top_ == nullptr; }

 private:
  node* top_ = nullptr;
};

}  // namespace polder::ds
