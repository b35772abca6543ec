#pragma once
// segment_stack — a stack of k-segments: elements come into any slot of the topmost, and leave from any of it.
//
//   paper      Henzinger, Kirsch, Payer, Sezgin and Sokolova, "Quantitative relaxation of concurrent data structures",
//              POPL 2013, sec. 5, listing 1
//   progress   lock-free: an operation repeats only when another thread's push or pop got through, or sealed a segment, which
//              it does once
//   in malloc  no: put may allocate
//   deviation  In the paper who removes a segment counts itself in and out of it, and a push that sees one at work has to move
//              top's version to stay. Here it seals the segment for good: a push goes to a new one above it, pops take what
//              is left. So no version stands beside top; a guard keeps segments from being used again
//
// States of a segment. An arrow is one atomic step; in brackets, what the thread that made it owes.
//
//           push: top                                  no element seen: seal             remove: top [retire]
//     made ───────────▶ topmost ◀──▶ under another ─────────────────────▶ sealed ────────────────────────▶ unlinked
//      with an element                                 [look again]               topmost, and no element seen
//
// Invariant: from top to the bottom segment along next, which never changes; there is always one. A push that fills a slot
// either is seen by who seals the segment, before it is removed, or sees the seal and is taken back.
//
// Order. The point at which push takes effect: the last moment up to its fill at which its segment was top: since it read top,
// there was one, and the slot was free from then on. pop's: when it saw that the segment was top still, after it had seen the
// element there, which stayed until it took it. At that point no segment is above, and what is put into one below later takes
// effect earlier. So of the elements inside at most the other k - 1 of the segment are younger.
//
// one_each. Of one thread's elements each is in a segment above that of the one before it, or that one was gone when it came;
// and an element is taken only while nothing is above its segment. So its elements leave in the order of a stack.
//
// Empty, exactly. pop looks at all slots of the bottom segment, at top, and at all slots again: no element, this one is top, and
// no turn used up in between (slot.hpp). Then nothing was inside at the look at top.
#include <cstdint>
#include <optional>

#include <polder/base/config.hpp>
#include <polder/ds/parts/k_segment.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class R, class Memory, class Puts>
class segment_stack {
 public:
  using guard = typename R::template guard<1>;
  using owner_number = slot_state::owner_number;

  // Throws std::bad_alloc.
  segment_stack(guard& g, std::uint32_t k) : k_(k) {
    top_.store(g.template make<segment>(places(Puts::first_width(k))), order::relaxed);
  }
  segment_stack(const segment_stack&) = delete;
  segment_stack& operator=(const segment_stack&) = delete;
  // At rest and empty.
  void end(guard& g) noexcept { g.unmake(top_.load(order::relaxed)); }

  std::uint32_t k() const noexcept { return k_; }

  // who: of one_each, the caller's number. Throws std::bad_alloc, having changed nothing.
  void put(guard& g, std::uint64_t e, owner_number who, std::uint32_t random) {
    for (;;) {
      segment* top = g.protect(0, top_);
      const auto free = top->slots().find_free(random, who);
      if (free.at != nullptr && !free.mine && !top->is_sealed()) {
        if (top->slots().fill(free, e, who) && top->committed(free, who)) return;
        continue;
      }
      segment* const made = g.template make<segment>(places(Puts::next_width(free, top->width(), k_)));
      made->begin(e, who, random);
      made->next.set(top);
      if (top_.cas(top, made, order::release, order::relaxed)) return;  // sync: segment-top
      g.unmake(made);
    }
  }

  std::optional<std::uint64_t> get(guard& g, std::uint32_t random) {
    for (;;) {
      segment* top = g.protect(0, top_);
      const auto seen = top->slots().find_element(random, order::acquire);  // sync: slot-seen
      const bool topmost = top_.load(order::acquire) == top;                // sync: segment-top
      if (!topmost) continue;
      if (seen.at != nullptr) {
        if (const std::optional<std::uint64_t> e = seen.at->take(seen.state)) return e;
        continue;
      }
      segment* const below = top->next.get();
      if (below == nullptr) {
        const auto still = top->slots().find_element(random, order::relaxed);
        if (still.at == nullptr && still.turns == seen.turns) return std::nullopt;
        continue;
      }
      top->seal();
      if (!top->is_over(random)) continue;
      if (top_.cas(top, below, order::acq_rel, order::relaxed)) g.retire(top);  // sync: segment-top
    }
  }

 private:
  struct segment : R::header, Memory, k_segment<again, Memory> {
    using k_segment<again, Memory>::k_segment;
    std::size_t weight() const noexcept { return sizeof(segment) + this->bytes(); }
    plain<segment*> next;  // the one below, or null. Written before the segment is linked
  };
  using places = typename segment::places;

  const std::uint32_t k_;
  // top_ — the topmost segment. Written by who pushes one and who removes it, read by all.
  //   order  segment-top: who sees a segment on top sees its slots and its next; a removal in between is a read-modify-write,
  //          so it hands on what the push before it released
  //   ABA    a guard keeps the segment that was read from being used again
  alignas(false_sharing_range) atomic<segment*> top_;
};

}  // namespace polder::ds
