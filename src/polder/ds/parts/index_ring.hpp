#pragma once
// index_ring — a lock-free ring of small numbers, each of which is in it at most once.
//
//   paper      Nikolaev, "A scalable, portable, and memory-efficient lock-free FIFO queue" (SCQ), DISC 2019, fig. 8
//   progress   lock-free; a get that finds nothing ends after a number of tries that put sets anew (the threshold)
//   in malloc  yes, once it is made
//   deviation  neighbours are not spread over cache lines. The threshold is higher: the paper's 3n - 1 takes for granted that
//              there are no more threads than indices, and with more an empty answer may be wrong. So that it need not run down
//              before empty is said cheaply, a get looks at head and tail if there was a miss since the last put
//
// An entry is one word:  63            b+1   b   b-1      0      b: bits of an entry's number; there are 2n entries for
//                        ┌───────────────┬──────┬──────────┐     n indices, so half of them are free
//                        │     cycle     │ safe │  index   │
//                        └───────────────┴──────┴──────────┘     index: all ones is none
//
// States of an entry under ticket t, whose cycle is t / 2n. An arrow is one read-modify-write.
//
//                 put, ticket t: CAS                     get, ticket t: fetch_or
//     none, older ──────────────────▶ index, cycle of t ──────────────────────────▶ none, cycle of t
//        │  get, ticket t, came first: CAS                                             (older for the next round)
//        └──────────────────────────▶ none, cycle of t [that put takes another ticket]
//     index, older ── get, ticket t: CAS ──▶ index, older, unsafe [no put of ticket t may use it: its get has been here]
//
// Invariant: no more than n indices are inside, so a put finds a free entry within a round. An index that is inside, at ticket
// t, is found within 2n - 1 failed gets and those that are late: whoever drew a ticket before the put ended may count its miss
// afterwards, once for each thread.
//   Why 2n - 1: when the put ends, head > t - 2n. If not, take the moment when t was drawn, and the tickets from t - 2n to
//   t - 1: they lead to all entries, and head has not come to any of them. At most n - 1 have an index, inside or on its way; the
//   other n + 1 were in vain: each met an index of a ticket before t - 2n. It is another index for each, since who takes one
//   and puts it again draws a ticket after that meeting, which is beyond t - 2n. So there are more than n.
//
// Orders. The threshold's argument counts steps of all threads in one order, so tickets, the entry a put makes, a get's look
// at it and the threshold are seq_cst. On x86 and AArch64 these are the same instructions as acq_rel would give, but for the
// threshold's store, which is rare.
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/ds/parts/cells.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Memory = heap_memory>
class index_ring {
 public:
  using index = std::uint64_t;

  enum class at_first { empty, full };

  // For the indices below n, a power of two, and so many threads at the same time. Throws std::bad_alloc.
  index_ring(std::size_t n, at_first how, std::size_t most_threads)
      : bits_(floor_log2(2 * n)), most_misses_(std::int64_t(2 * n - 1 + most_threads)), entries_(2 * n) {
    const std::size_t inside = how == at_first::full ? n : 0;
    for (std::size_t i = 0; i != 2 * n; ++i)
      entries_[i].store(i < inside ? entry(1, true, i) : entry(0, true, none()), order::relaxed);
    head_.store(2 * n, order::relaxed);
    tail_.store(2 * n + inside, order::relaxed);
    misses_left_.store(inside != 0 ? most_misses_ : -1, order::relaxed);
  }

  index none() const noexcept { return low_ones(bits_); }

  // Of an index that is not inside.
  void put(index i) noexcept {
    for (;;) {
      const ticket t = tail_.fetch_add(1, order::seq_cst);  // sync: ring-order
      atomic<word>& e = entries_[t & none()];
      word now = e.load(order::seq_cst);  // sync: ring-order
      while (cycle_of(now) < cycle(t) && index_of(now) == none() &&
             (is_safe(now) || head_.load(order::seq_cst) <= t)) {                             // sync: ring-order
        if (!e.cas(now, entry(cycle(t), true, i), order::seq_cst, order::seq_cst)) continue;  // sync: ring-order
        if (misses_left_.load(order::seq_cst) != most_misses_)                                // sync: ring-order
          misses_left_.store(most_misses_, order::seq_cst);                                   // sync: ring-order
        return;
      }
    }
  }

  // none(): it is empty.
  index get() noexcept {
    if (is_empty()) return none();
    for (;;) {
      const ticket t = head_.fetch_add(1, order::seq_cst);  // sync: ring-order
      if (const index i = at(t); i != none()) return i;
      const ticket tail = tail_.load(order::seq_cst);  // sync: ring-order
      if (tail <= t + 1) {
        catch_up(tail, t + 1);
        misses_left_.fetch_sub(1, order::seq_cst);  // sync: ring-order
        return none();
      }
      if (misses_left_.fetch_sub(1, order::seq_cst) <= 0) return none();  // sync: ring-order
    }
  }

 private:
  using word = std::uint64_t;
  using ticket = std::uint64_t;

  word cycle(ticket t) const noexcept { return t >> bits_; }
  word cycle_of(word e) const noexcept { return e >> (bits_ + 1); }
  index index_of(word e) const noexcept { return e & none(); }
  bool is_safe(word e) const noexcept { return (e >> bits_ & 1) != 0; }
  word entry(word cycle, bool safe, index i) const noexcept {
    return cycle << (bits_ + 1) | word(safe) << bits_ | i;
  }

  // Whether it was at a moment within this call: when head was read, tail was not beyond it.
  bool is_empty() const noexcept {
    const std::int64_t left = misses_left_.load(order::seq_cst);  // sync: ring-order
    if (left == most_misses_) return false;
    if (left < 0) return true;
    const ticket head = head_.load(order::seq_cst);  // sync: ring-order
    return tail_.load(order::seq_cst) <= head;       // sync: ring-order
  }

  // What the put of the same ticket left, or none, and then it leaves nothing there any more.
  index at(ticket t) noexcept {
    atomic<word>& e = entries_[t & none()];
    word now = e.load(order::seq_cst);  // sync: ring-order
    for (;;) {
      if (cycle_of(now) == cycle(t)) {
        if (index_of(now) == none()) return none();
        return index_of(e.fetch_or(none(), order::seq_cst));  // sync: ring-order
      }
      if (cycle_of(now) > cycle(t)) return none();
      const word then = index_of(now) == none() ? entry(cycle(t), is_safe(now), none())
                                                : entry(cycle_of(now), false, index_of(now));
      if (e.cas(now, then, order::seq_cst, order::seq_cst)) return none();  // sync: ring-order
    }
  }

  // Gets have passed the tail: puts need not follow one by one.
  void catch_up(ticket tail, ticket head) noexcept {
    while (!tail_.cas(tail, head, order::seq_cst, order::seq_cst)) {  // sync: ring-order
      head = head_.load(order::seq_cst);                              // sync: ring-order
      if (tail >= head) return;
    }
  }

  const unsigned bits_;
  const std::int64_t most_misses_;
  // head_, tail_ — the next ticket of a get, of a put. Written and read by all. ABA: they only grow.
  alignas(false_sharing_range) atomic<ticket> head_;
  alignas(false_sharing_range) atomic<ticket> tail_;
  // misses_left_ — how many gets may fail before all say empty; negative: they say so without a ticket. Set by each put that
  //   finds it otherwise, counted down by each get that fails.
  alignas(false_sharing_range) atomic<std::int64_t> misses_left_;
  // entries_ — see above. Written by puts and gets whose ticket leads there. ABA: a cycle does not come again in 2^64
  //   tickets' time.
  alignas(false_sharing_range) cells<atomic<word>, Memory> entries_;
};

}  // namespace polder::ds
