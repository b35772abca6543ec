#pragma once
// segment_ring — a ring of segments of k slots: elements come into any slot of tail's segment, and leave from any of head's.
//
//   paper      Kirsch, Lippautz and Payer, "Fast and scalable, lock-free k-FIFO queues", PaCT 2013, sec. 3, fig. 1
//   progress   lock-free: an operation repeats only when another thread's put or get got through
//   in malloc  yes, once it is made
//   deviation  A slot takes one element each time the ring comes round to it. In the paper it takes another when it is empty, so
//              a get from the segment that puts go to first sends these on, and a put that comes late has to see whether it
//              is in (committed). Here a segment is left when all its slots were used: nobody comes late, and a pair of put
//              and get costs one slot, not a segment
//
// Segments are numbered on and on; number n is in place n mod segments. A slot's turn is the number of the segment that last
// used it, plus one. Of segment n:
//
//                 fill                 take
//     turn ≤ n ───────────▶ (n + 1, full) ───────────▶ (n + 1, empty)
//
//     ahead ────────▶ tail's ────────────────▶ between ────────▶ head's ───────────────────▶ passed
//            tail                 tail: every             head              head: every slot was used
//                                 slot was used                             and is empty
//
// Invariant: head ≤ tail < head + segments. An element that was put before another is in the same segment or in an earlier
// one. Elements leave from head's segment alone.
//
// Order: an element of an earlier segment cannot be overtaken, for head does not pass its segment; in its own there are at most
// k - 1 others in all. So at most k - 1 elements overtake it, and at each get at most k - 1 inside are older.
//
// Empty, exactly: get looks at all slots of head's segment, at tail, and at all slots again: no element, tail at this segment, and
// no turn used up in between (parts/slot.hpp). If every slot was used the second look is not needed.
//
// Full: every segment is in use. A segment is used again when all its elements are out, so put may fail when one more than
// k·(segments - 1) are inside, and does when k·segments are. put finds every slot of tail's segment used, and then an element in
// head's. While that is there head stays, so whatever was put into later segments is inside with it.
#include <cstddef>
#include <cstdint>
#include <optional>

#include <polder/base/config.hpp>
#include <polder/ds/parts/cells.hpp>
#include <polder/ds/parts/slot.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Memory>
class segment_ring {
 public:
  // k: at least 1; segments: at least 2. Throws std::bad_alloc.
  segment_ring(std::uint32_t k, std::size_t segments) : k_(k), segments_(segments), slots_(k * segments) {}
  segment_ring(const segment_ring&) = delete;
  segment_ring& operator=(const segment_ring&) = delete;

  std::uint32_t k() const noexcept { return k_; }
  std::size_t capacity() const noexcept { return k_ * segments_; }

  // False: it is full.
  bool put(std::uint64_t e, std::uint32_t random) noexcept {
    for (;;) {
      std::uint64_t t = tail_.load(order::acquire);  // sync: kfifo-tail
      const auto free = segment(t).find_free(random);
      if (free.at != nullptr) {
        if (segment(t).fill(free, e, 0)) return true;
        continue;
      }
      // Every slot was used.
      fence(order::acquire);                               // sync: slot-seen: what room was made before they were
      const std::uint64_t h = head_.load(order::acquire);  // sync: kfifo-head
      if (t + 1 == h + segments_ && !pass(h)) return false;
      tail_.cas(t, t + 1, order::release, order::relaxed);  // sync: kfifo-tail
    }
  }

  std::optional<std::uint64_t> get(std::uint32_t random) noexcept {
    for (;;) {
      const std::uint64_t h = head_.load(order::acquire);                 // sync: kfifo-head
      const auto seen = segment(h).find_element(random, order::acquire);  // sync: slot-seen
      if (seen.at != nullptr) {
        if (const std::optional<std::uint64_t> e = seen.at->take(seen.state)) return e;
        continue;
      }
      const std::uint64_t t = tail_.load(order::acquire);  // sync: kfifo-tail
      if (t == h) {
        const auto still = segment(h).find_element(random, order::relaxed);
        if (still.at == nullptr && still.turns == seen.turns) return std::nullopt;
      } else if (seen.free == 0) {
        leave(h);
      }
    }
  }

 private:
  using run = slot_run<once>;

  run segment(std::uint64_t n) const noexcept { return run(&slots_[n % segments_ * k_], k_, once{n + 1}); }

  // For a put that finds the ring full: head may stand at a segment that is over. All its slots were used, for tail has left it.
  // Relaxed: who reads head from here sees the slots of this segment and of tail's as this put has seen them.
  bool pass(std::uint64_t h) noexcept {
    if (segment(h).find_element(0, order::relaxed).at != nullptr) return false;
    leave(h);
    return true;
  }
  void leave(std::uint64_t h) noexcept {
    head_.cas(h, h + 1, order::release, order::relaxed);  // sync: kfifo-head
  }

  const std::uint32_t k_;
  const std::size_t segments_;
  // slots_ — see parts/slot.hpp. A slot is filled in turn n + 1 only when head has passed segment n - segments, so it is empty.
  cells<slot, Memory> slots_;
  // head_, tail_ — numbers of segments, each only growing. Written by who found a segment over or used up; read by all.
  //   order  kfifo-head, kfifo-tail: who sees a segment left sees how its slots were when it was
  //   ABA    64-bit numbers do not come again
  alignas(false_sharing_range) atomic<std::uint64_t> head_;
  alignas(false_sharing_range) atomic<std::uint64_t> tail_;
};

}  // namespace polder::ds
