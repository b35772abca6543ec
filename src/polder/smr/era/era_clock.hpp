#pragma once
// era_clock — the clock by which objects know when they were made, and readers what they may see.
//
//   paper      Ramalhete, Correia, "Brief announcement: hazard eras", SPAA 2017; Wen, Izraelevitz, Cai, Beadle, Scott,
//              "Interval-based memory reclamation", PPoPP 2018 (2GE-IBR)
//   progress   every step wait-free; era_slot::protect and era_interval::protect lock-free, they repeat only when the
//              clock moved
//   in malloc  no
//   invariant  an object that a slot with era e protects was born at e or before, and is stamped as retired at e or later
//   deviation  the fence between publishing and reading is asymmetric, and objects are stamped as retired by the look
//              that finds them, after its heavy fence, not one by one. An era ends after so many births, and with each look
//
// Why what protect() returns stays.
//   birth    who made the object read the clock before it put it anywhere; who found it acquired that. Hence the clock it
//            reads afterwards is no earlier (coherence), and it publishes no less than the birth.
//   retired  who retires unlinks, passes a heavy fence (smr/fences.hpp), and then reads the clock: r. A reader that
//            published e > r has read a clock that the other did not see yet; so it passed the place of its light fence
//            after the heavy one, and its reading of the source shows that the object was gone.
//   seen     if e <= r, the reader had published e before it read the source. Either the heavy fence comes later, and the
//            look sees e; or it comes before, and the reader sees that the object was gone.
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

using era = std::uint64_t;
inline constexpr era no_era = 0;  // eras begin at 1

class era_clock {
 public:
  [[gnu::always_inline]] era now() const noexcept { return now_.load(order::relaxed); }
  void tick() noexcept { now_.fetch_add(1, order::relaxed); }

 private:
  // now_
  //   written by  who has made as many objects as an era lasts, or looks, by fetch_add
  //   read by     who makes, protects, looks
  //   order       none: it is compared, and the fences between reading it and reading something else order the two
  //   ABA         it only grows
  alignas(false_sharing_range) atomic<era> now_{1};
};

// An object's life, as far as it is known. Born at no_era: nobody knows, so it may be in any reader's hands.
struct lifetime {
  era born = no_era;
  era retired = no_era;
};

// One era (hazard eras): whatever lived then stays.
class era_slot {
 public:
  template <class W, class Fences>
  [[gnu::always_inline]] W protect(const atomic<W>& source, const era_clock& clock, const Fences& fences) noexcept {
    W seen;
    while (!try_protect(seen, source, clock, fences, ~0u)) {
    }
    return seen;
  }
  // False: the clock moved in each of so many tries, and once more.
  template <class W, class Fences>
  [[gnu::always_inline]] [[nodiscard]] bool try_protect(W& seen, const atomic<W>& source, const era_clock& clock,
                                                        const Fences& fences, unsigned tries) noexcept {
    era mine = mine_or_none();
    for (;; --tries) {
      seen = source.load(order::acquire);  // sync: structure: who wrote the word made the node whole before
      const era now = clock.now();
      if (now == mine) [[likely]]
        return true;
      if (tries == 0) [[unlikely]]
        return false;
      publish(now);
      fences.light();
      mine = now;
    }
  }

  [[gnu::always_inline]] void publish(era e) noexcept { era_.store(e, order::release); }  // sync: era-left
  [[gnu::always_inline]] void clear() noexcept { era_.store(no_era, order::release); }    // sync: era-left
  era read() const noexcept { return era_.load(order::acquire); }                         // sync: era-left
  [[gnu::always_inline]] era mine_or_none() const noexcept { return era_.load(order::relaxed); }

 private:
  // era_
  //   written by  the thread whose guard has the slot
  //   read by     whoever looks
  //   order       era-left: what was read of objects that the era before protected was read before
  //   ABA         the same era is the same statement
  atomic<era> era_;
};

// All eras from one to another (2GE-IBR): whatever lived in any of them stays. From no_era on: outside.
class era_interval {
 public:
  // Readable from now on: what is not yet unlinked, and was born at the returned era or before.
  template <class Fences>
  [[gnu::always_inline]] era enter(const era_clock& clock, const Fences& fences) noexcept {
    const era now = clock.now();
    to_.store(now, order::relaxed);
    from_.store(now, order::release);  // sync: era-left
    fences.light();
    return now;
  }
  // `to` is what the interval ends with, as enter() or protect() left it.
  template <class W, class Fences>
  [[gnu::always_inline]] W protect(const atomic<W>& source, era& to, const era_clock& clock,
                                   const Fences& fences) noexcept {
    for (;;) {
      const W seen = source.load(order::acquire);  // sync: structure: who wrote the word made the node whole before
      const era now = clock.now();
      if (now == to) [[likely]]
        return seen;
      to_.store(now, order::relaxed);
      fences.light();
      to = now;
    }
  }
  [[gnu::always_inline]] void leave() noexcept { from_.store(no_era, order::release); }  // sync: era-left
  // The interval that somebody else is known to hold. The caller's fence.
  void cover(era from, era to) noexcept {
    to_.store(to, order::relaxed);
    from_.store(from, order::release);  // sync: era-left
  }

  // By whoever looks, after its heavy fence.
  era from() const noexcept { return from_.load(order::acquire); }  // sync: era-left
  era to() const noexcept { return to_.load(order::relaxed); }

 private:
  // from_, to_
  //   written by  the member's thread; `to` grows while it is inside
  //   read by     whoever looks, `from` first: it then sees the `to` that belongs to it, or a later one
  //   order       era-left, at `from`: what was read in a guard that closed was read before; and the `to` of the one that
  //               opened. How `to` grows is seen by the fences
  //   ABA         the same interval is the same statement
  atomic<era> from_;
  atomic<era> to_;
};

}  // namespace polder::smr
