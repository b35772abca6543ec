#pragma once
// epoch_clock — the global epoch, and what each member announces of it.
//
//   paper      Fraser, "Practical lock-freedom", 2004, 5.2.3; Brown, "Reclaiming memory for lock-free data structures:
//              there has to be a better way", PODC 2015, section 4 (DEBRA: the quiescent bit)
//   progress   leave, passed, advance: wait-free. enter: lock-free, repeats only when the epoch advanced meanwhile
//   in malloc  no
//   invariant  while a member is inside with announcement a, the epoch is a or a + 1
//   deviation  the fence between announcing and reading is asymmetric (smr/fences.hpp), so each sweep over the members
//              begins with a heavy fence after its epoch was read: `fenced_for` shares one among all who sweep
//
// Which objects are safe. A thread that retires while inside with announcement a unlinked the object when the epoch was
// a or a + 1. Who can still read it entered before, so announced at most a + 1, and keeps the epoch from reaching a + 3.
// Whoever entered with a + 2 or more has acquired, through the advances, what was unlinked. Hence: a bag filled under
// announcement a is safe once the epoch is a + 3.
//
// An announcement is epoch << 1 | inside. Epochs begin at 1: the word 0 is a member that has never been here.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class epoch_clock {
 public:
  static constexpr std::uint64_t lag = 3;  // a bag of announcement a is safe at epoch a + lag

  class seat {
   public:
    bool inside() const noexcept { return (announced_.load(order::acquire) & 1) != 0; }  // sync: guard-left
    std::uint64_t epoch() const noexcept { return announced_.load(order::relaxed) >> 1; }
    // The member's own, outside, or anybody's in a fork's child.
    void vacate() noexcept { announced_.store(0, order::release); }  // sync: guard-left

   private:
    friend epoch_clock;
    // announced_
    //   written by  the member's thread
    //   read by     whoever sweeps, or claims the seat
    //   order       guard-left: what was read inside was read before; whoever sees the member outside, or in a later
    //               epoch, may let the epoch go on. Entering releases as well, since it writes over the word that left
    //   ABA         the same word again is the same statement again
    atomic<std::uint64_t> announced_;
  };

  // Returns the epoch that was announced. Readable from now on: what was not yet unlinked.
  template <class Fences>
  [[gnu::always_inline]] std::uint64_t enter(seat& s, const Fences& fences) noexcept {
    std::uint64_t now = epoch_.load(order::relaxed);
    for (;;) {
      s.announced_.store(now << 1 | 1, order::release);  // sync: guard-left
      fences.light();
      // Who was held up between the load and the store may have announced an epoch long gone.
      const std::uint64_t again = epoch_.load(order::acquire);  // sync: epoch-advanced
      if (again == now) [[likely]]
        return now;
      now = again;
    }
  }

  [[gnu::always_inline]] void leave(seat& s, std::uint64_t announced) noexcept {
    s.announced_.store(announced << 1, order::release);  // sync: guard-left
  }

  std::uint64_t now() const noexcept { return epoch_.load(order::acquire); }  // sync: epoch-advanced

  // Whether somebody has passed the fence that before_sweep(e) asks for.
  bool fenced(std::uint64_t e) const noexcept {
    return fenced_for_.load(order::acquire) >= e;  // sync: sweep-fenced
  }

  // Before the members are looked at for epoch e, which is the caller's announcement. False: they must not be.
  template <class Fences>
  [[nodiscard]] bool before_sweep(std::uint64_t e, const Fences& fences) noexcept {
    if (fenced(e)) return true;
    if (!fences.heavy()) return false;
    std::uint64_t seen = fenced_for_.load(order::relaxed);
    while (seen < e && !fenced_for_.cas(seen, e, order::release, order::relaxed)) {  // sync: sweep-fenced
    }
    return true;
  }

  // Whether s does not hold up the advance from e; after before_sweep(e).
  static bool passed(const seat& s, std::uint64_t e) noexcept {
    const std::uint64_t word = s.announced_.load(order::acquire);  // sync: guard-left
    return (word & 1) == 0 || word >> 1 == e;
  }

  // The same where outside is no excuse (QSBR): only a member that is not there at all, or announced e.
  static bool announced(const seat& s, std::uint64_t e) noexcept {
    const std::uint64_t word = s.announced_.load(order::acquire);  // sync: guard-left
    return word == 0 || word >> 1 == e;
  }

  // 0: s does not hold up the advance from the present epoch; else what it announces. A glimpse, for who reports it: the
  // announcement first, so that it is not a later one than the epoch it is compared with.
  std::uint64_t obstacle(const seat& s, bool outside_counts) const noexcept {
    const std::uint64_t word = s.announced_.load(order::acquire);  // sync: guard-left
    const bool counts = outside_counts ? (word & 1) != 0 : word != 0;
    return counts && word >> 1 != now() ? word : 0;
  }

  // After every member was seen to have passed e. True: this call made it e + 1.
  bool advance(std::uint64_t e) noexcept {
    return epoch_.cas(e, e + 1, order::acq_rel, order::relaxed);  // sync: epoch-advanced
  }

 private:
  // epoch_
  //   written by  any member, by CAS from e to e + 1
  //   read by     every member that enters
  //   order       epoch-advanced: what members did before they were seen to have passed. All writes are RMWs: one
  //               release sequence
  //   ABA         it only grows; 2^63 advances
  alignas(false_sharing_range) atomic<std::uint64_t> epoch_{1};
  // fenced_for_: a heavy fence was passed after the epoch was this. Written by who passed it; sweep-fenced: the fence
  // comes before the looks of whoever reads it. It only grows.
  alignas(false_sharing_range) atomic<std::uint64_t> fenced_for_{0};
};

}  // namespace polder::smr
