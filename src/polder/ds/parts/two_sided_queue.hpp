#pragma once
// two_sided_queue — a list of chunks of elements, first in first out, for one thread at a time at each end.
//
//   paper      Michael and Scott, "Simple, fast, and practical non-blocking and blocking concurrent queue algorithms",
//              PODC 1996, fig. 2: the two ends of a list, of which the sentinel keeps them apart
//   progress   wait-free, but for the memory's part
//   in malloc  no: put allocates
//   deviation  a node has several elements, so the ends meet in one; a count of what was put keeps them apart instead
//
// Invariant: taken_ <= seen_ <= put_; the elements are those that were put from number taken_ on. A chunk that was emptied is
// linked to the next by then: who takes goes on when there is an element, and that has been put behind the link.
//
// Nothing in here throws: it is run under locks.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/ds/parts/chunks.hpp>
#include <polder/ds/parts/held.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class E, class Memory, std::size_t Room = chunk_room<E>>
class two_sided_queue {
 public:
  two_sided_queue() = default;
  two_sided_queue(const two_sided_queue&) = delete;
  two_sided_queue& operator=(const two_sided_queue&) = delete;
  ~two_sided_queue() {
    while (take()) {
    }
    if (first_ != &before_) delete static_cast<chunk*>(first_);
    delete spare_.load(order::relaxed);
  }

  // False: there was no memory for it, and e is as it was.
  bool put(E& e) noexcept {
    if (end_ == Room && !grow()) return false;
    static_cast<chunk*>(last_)->places[end_++].put(std::move(e));
    put_.store(put_.load(order::relaxed) + 1, order::release);  // sync: two-sided-put
    return true;
  }

  // The first one. Nothing: it is empty.
  std::optional<E> take() noexcept {
    const std::uint64_t taken = taken_.load(order::relaxed);
    if (taken == seen_) {
      seen_ = put_.load(order::acquire);  // sync: two-sided-put
      if (taken == seen_) return std::nullopt;
    }
    if (begin_ == Room) shrink();
    std::optional<E> e(static_cast<chunk*>(first_)->places[begin_++].take());
    taken_.store(taken + 1, order::relaxed);
    return e;
  }

  // For who puts; of others' takes it may see fewer than there were.
  bool empty() const noexcept { return taken_.load(order::relaxed) == put_.load(order::relaxed); }

 private:
  struct link {
    // Who puts writes it before the element behind it; who takes reads it after. Old in a spare chunk.
    plain<link*> next;
  };
  struct chunk : link, Memory {
    held<E> places[Room];
  };

  bool grow() noexcept {
    chunk* c = spare_.load(order::relaxed);
    if (c != nullptr) c = spare_.exchange(nullptr, order::acquire);  // sync: two-sided-spare
    if (c == nullptr) {
      try {
        c = new chunk;
      } catch (...) {
        return false;
      }
    }
    last_->next.set(c);
    last_ = c, end_ = 0;
    return true;
  }
  // The next chunk: there is one.
  void shrink() noexcept {
    link* const emptied = std::exchange(first_, first_->next.get());
    begin_ = 0;
    if (emptied != &before_)
      delete spare_.exchange(static_cast<chunk*>(emptied), order::acq_rel);  // sync: two-sided-spare
  }

  // put_ — how many were. Written by who puts, read by who takes when it has taken what it saw.
  //   order  two-sided-put: who sees the number sees the element, and the link to its chunk
  alignas(false_sharing_range) atomic<std::uint64_t> put_;
  link* last_ = &before_;   // who puts
  std::size_t end_ = Room;  // the same: how many places of the last chunk are used
  // spare_ — an emptied chunk, or null. Left by who takes, taken by who puts; each has it alone then.
  //   order  two-sided-spare: what the other did with the chunk is over
  atomic<chunk*> spare_;
  // taken_ — how many were. Written by who takes, read by who wants to know whether it is empty. Relaxed: it only grows.
  alignas(false_sharing_range) atomic<std::uint64_t> taken_;
  std::uint64_t seen_ = 0;    // who takes: of put_
  link* first_ = &before_;    // the same
  std::size_t begin_ = Room;  // the same: how many places of the first chunk are emptied
  link before_;               // the first chunk's; written once
};

}  // namespace polder::ds
