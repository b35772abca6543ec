#pragma once
// segment_list — a list of k-segments: elements come into any slot of the last one, and leave from any of the first.
//
//   paper      Kirsch, Lippautz and Payer, "Fast and scalable, lock-free k-FIFO queues", PaCT 2013, sec. 3, fig. 1, 2; Afek,
//              Korland and Yanovsky, "Quasi-linearizability: relaxed consistency for improved concurrency", OPODIS 2010,
//              sec. 4.1 (the segment queue)
//   progress   lock-free: an operation repeats only when another thread's put or get got through
//   in malloc  no: put may allocate
//   deviation  A slot takes one element in its life, as in the segment queue. In the k-FIFO queue it takes another when it
//              is empty, so there a get from the segment that puts go to first sends these to a new one: a segment for
//              each element of a short queue. Here nothing is to be kept apart, and a segment is left when it is full.
//              Then nobody can come late, so what the paper calls committed is needed only where a thread leaves a segment
//              that still has room (one_each); `deleted` is k_segment's seal, and the second look of who seals stands for
//              the version of the paper's head
//
// States of a segment. An arrow is one atomic step; in brackets, what the thread that made it owes.
//
//           link: last segment's next             swing: tail [nothing: anybody does it]
//     made ──────────────────────────▶ last ───────────────────────────────────────────▶ left
//      with an element                  full; or, one_each, the putter's own is in it      │
//                                                                                          │ one_each and room left: seal
//                       leave: head [retire]                                               ▼ [look again]
//     unlinked ◀────────────────────────────────────────────────────────────────────────  over
//                                                                  every slot was used, or sealed and without elements
//
// Invariant: from head to the last segment along next; tail is on that way, never behind head. An element that was put before
// another is in the same segment or in an earlier one. Elements leave from head's segment alone.
//
// Order, with n ≤ k slots. The point at which put takes effect: its fill; if tail has moved on before, the moment when it
// did, within the put, since tail was read in it. get's: its take. An element of an earlier segment cannot be overtaken: head
// would have to pass its segment, which is over only without it. In its own segment there are at most k - 1 others in all, for
// a slot is used once. So at most k - 1 elements overtake it, and at each get at most k - 1 inside are older.
//
// one_each. A put that fills a slot of a segment that tail has left either is seen by who seals it, before head passes, or
// sees the seal and is taken back. Of one thread's elements each is in a later segment than the one before it, or that one
// was gone when it came: so its elements leave in order.
//
// Empty, exactly. get looks at all slots of head's segment, at next, and at all slots again: no element, no next, and no turn
// used up in between (slot.hpp). Then at the look at next there was no element in this segment, none in earlier ones,
// which are over, and no later one.
#include <cstdint>
#include <optional>

#include <polder/base/config.hpp>
#include <polder/ds/parts/k_segment.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class R, class Memory, class Puts>
class segment_list {
 public:
  using guard = typename R::template guard<1>;
  using owner_number = slot_state::owner_number;

  // Throws std::bad_alloc.
  segment_list(guard& g, std::uint32_t k) : k_(k) {
    segment* const first = g.template make<segment>(places(Puts::first_width(k)));
    head_.store(first, order::relaxed);
    tail_.store(first, order::relaxed);
  }
  segment_list(const segment_list&) = delete;
  segment_list& operator=(const segment_list&) = delete;
  // At rest and empty.
  void end(guard& g) noexcept { g.unmake(head_.load(order::relaxed)); }

  std::uint32_t k() const noexcept { return k_; }

  // who: of one_each, the caller's number. Throws std::bad_alloc, having changed nothing.
  void put(guard& g, std::uint64_t e, owner_number who, std::uint32_t random) {
    for (;;) {
      segment* const last = g.protect(0, tail_);
      segment* next = last->next.load(order::acquire);  // sync: segment-link
      if (next == nullptr) {
        const auto free = last->slots().find_free(random, who);
        if (free.at != nullptr && !free.mine) {
          if (last->slots().fill(free, e, who) && is_in(*last, free, who)) return;
          continue;
        }
        segment* const made = g.template make<segment>(places(Puts::next_width(free, last->width(), k_)));
        made->begin(e, who, random);
        if (last->next.cas(next, made, order::release, order::acquire)) {  // sync: segment-link
          swing(last, made);
          return;
        }
        g.unmake(made);
      }
      swing(last, next);
    }
  }

  std::optional<std::uint64_t> get(guard& g, std::uint32_t random) {
    for (;;) {
      segment* first = g.protect(0, head_);
      const auto seen = first->slots().find_element(random, order::acquire);  // sync: slot-seen
      if (seen.at != nullptr) {
        if (const std::optional<std::uint64_t> e = seen.at->take(seen.state)) return e;
        continue;
      }
      segment* const next = first->next.load(order::acquire);  // sync: segment-link
      if (next == nullptr) {
        const auto still = first->slots().find_element(random, order::relaxed);
        if (still.at == nullptr && still.turns == seen.turns) return std::nullopt;
        continue;
      }
      if (seen.free != 0) {
        if constexpr (!Puts::own_segments) continue;  // full when it was left: an element has come meanwhile
        first->seal();
        if (!first->is_over(random)) continue;
      }
      // Head must not pass tail: whoever follows tail would read what was freed.
      if (tail_.load(order::relaxed) == first) swing(first, next);
      if (head_.cas(first, next, order::acq_rel, order::relaxed)) g.retire(first);  // sync: segment-leave
    }
  }

 private:
  struct segment : R::header, Memory, k_segment<once, Memory> {
    using k_segment<once, Memory>::k_segment;
    std::size_t weight() const noexcept { return sizeof(segment) + this->bytes(); }
    // next — the segment behind, or null. Written once, by the CAS that links it; read by all.
    //   order  segment-link: who sees a segment sees its slots, and how the one before it was when it was left
    atomic<segment*> next;
  };
  using places = typename segment::places;

  template <class Sight>
  static bool is_in(segment& s, const Sight& free, owner_number who) noexcept {
    if constexpr (Puts::own_segments) return s.committed(free, who);
    else return true;  // nobody leaves a segment with a free slot
  }

  void swing(segment* from, segment* to) noexcept {
    tail_.cas(from, to, order::release, order::relaxed);  // sync: segment-link
  }

  const std::uint32_t k_;
  // head_ — the first segment. Written by who found it over, read by all who get.
  //   order  segment-leave: who sees a segment as head sees that tail is not before it; protect() acquires
  //   ABA    a guard keeps the segment that was read from being used again
  alignas(false_sharing_range) atomic<segment*> head_;
  // tail_ — the last segment or one before it. Written by whoever finds it behind; read by who puts. ABA: as head_.
  alignas(false_sharing_range) atomic<segment*> tail_;
};

}  // namespace polder::ds
