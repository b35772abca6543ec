#pragma once
// sequential_stack — a list of chunks of elements, last in first out, for one thread at a time. As sequential_queue.
//
// Invariant: the elements are the first used_ of the top chunk, which has one at least, and all of those below. Without
// chunks used_ is what fills one.
#include <cstddef>
#include <optional>
#include <utility>

#include <polder/ds/parts/chunks.hpp>

namespace polder::ds {

template <class E, class Memory>
class sequential_stack {
 public:
  using element = E;

  sequential_stack() = default;
  sequential_stack(const sequential_stack&) = delete;
  sequential_stack& operator=(const sequential_stack&) = delete;
  ~sequential_stack() {
    while (take()) {
    }
  }

  // False: there was no memory for it, and e is as it was.
  bool put(E& e) noexcept {
    if (used_ == room) {
      chunk* const c = chunks_.take();
      if (c == nullptr) return false;
      c->next = std::exchange(top_, c);
      used_ = 0;
    }
    top_->places[used_++].put(std::move(e));
    return true;
  }
  // The top one. Nothing: it is empty.
  std::optional<E> take() noexcept {
    if (empty()) return std::nullopt;
    std::optional<E> e(top_->places[--used_].take());
    if (used_ == 0) {
      chunk* const c = top_;
      top_ = c->next, used_ = room;
      chunks_.give(c);
    }
    return e;
  }
  bool empty() const noexcept { return top_ == nullptr; }

 private:
  using chunk = typename chunks<E, Memory>::chunk;
  static constexpr std::size_t room = chunks<E, Memory>::room;

  chunk* top_ = nullptr;
  std::size_t used_ = room;
  chunks<E, Memory> chunks_;
};

}  // namespace polder::ds
