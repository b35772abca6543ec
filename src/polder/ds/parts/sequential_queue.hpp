#pragma once
// sequential_queue — a list of chunks of elements, first in first out, for one thread at a time.
//
//   paper      Knuth, The Art of Computer Programming, vol. 1, sec. 2.2.3
//   deviation  a node of the list has several elements
//
// Nothing in here throws: it is run under locks, and by threads for others.
//
// Invariant: the elements are those from begin_ in the first chunk to end_ in the last. Without chunks both are at a chunk's
// end, and a queue that was emptied begins anew in its chunk.
#include <cstddef>
#include <optional>
#include <utility>

#include <polder/ds/parts/chunks.hpp>

namespace polder::ds {

template <class E, class Memory>
class sequential_queue {
 public:
  using element = E;

  sequential_queue() = default;
  sequential_queue(const sequential_queue&) = delete;
  sequential_queue& operator=(const sequential_queue&) = delete;
  ~sequential_queue() {
    while (take()) {
    }
    delete first_;
  }

  // False: there was no memory for it, and e is as it was.
  bool put(E& e) noexcept {
    if (end_ == room && !grow()) return false;
    last_->places[end_++].put(std::move(e));
    return true;
  }
  // The first one. Nothing: it is empty.
  std::optional<E> take() noexcept {
    if (empty()) return std::nullopt;
    std::optional<E> e(first_->places[begin_++].take());
    if (empty()) begin_ = end_ = 0;
    else if (begin_ == room) shrink();
    return e;
  }
  bool empty() const noexcept { return begin_ == end_ && first_ == last_; }

 private:
  using chunk = typename chunks<E, Memory>::chunk;
  static constexpr std::size_t room = chunks<E, Memory>::room;

  bool grow() noexcept {
    chunk* const c = chunks_.take();
    if (c == nullptr) return false;
    if (last_ == nullptr) first_ = c, begin_ = 0;
    else last_->next = c;
    last_ = c, end_ = 0;
    return true;
  }
  void shrink() noexcept {
    chunk* const c = first_;
    first_ = c->next, begin_ = 0;
    chunks_.give(c);
  }

  chunk* first_ = nullptr;
  chunk* last_ = nullptr;
  std::size_t begin_ = room, end_ = room;
  chunks<E, Memory> chunks_;
};

}  // namespace polder::ds
