#pragma once
// hazard_slot — one word in which a thread says which object it reads, and the steps around it.
//
//   paper      Michael, "Hazard pointers: safe memory reclamation for lock-free objects", IEEE TPDS 15(6), 2004, figure 2
//   progress   publish, clear, read: wait-free. protect: lock-free, repeats only when the source changed meanwhile
//   in malloc  no
//   invariant  what protect() returned is not reclaimed before the slot is written again, if it was reachable through
//              the source when the source was read for the last time
//   deviation  the fence between publishing and reading again is asymmetric (smr/fences.hpp): whoever scans passes the
//              heavy fence between unlinking and reading the slots
//
// Why it is enough. A reader stores the address and then reads the source; whoever reclaims unlinks and then reads the
// slots. The two fences let not both miss the other: either the slot is seen, or the source was seen to have changed.
//
// Why the slots are read one after the other. A protected object never moves from one slot to another: a guard that is
// told to hold in slot b what is in slot a gives both names to one slot (slot_map). So no scan can look at b too
// early and at a too late. What an older guard's slot keeps is taken over into one that is looked at later (slot_seat).
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class hazard_slot {
 public:
  // Reads the word; what it points to stays readable until the slot is used again. address(word): where it points to.
  template <class Source, class Fences, class Address>
  [[gnu::always_inline]] auto protect(const Source& source, const Fences& fences, Address&& address) noexcept {
    auto seen = source.load(order::relaxed);
    for (;;) {
      publish(address(seen));
      fences.light();
      // sync: structure: who wrote the word made the node whole before
      const auto again = source.load(order::acquire);
      if (again == seen) [[likely]]
        return again;
      seen = again;
    }
  }

  // Protects what nobody can have unlinked yet, or what a slot that is read before this one protects now.
  [[gnu::always_inline]] void publish(const void* p) noexcept {
    word_.store(p, order::release);  // sync: hazard-left
  }
  [[gnu::always_inline]] void clear() noexcept { word_.store(nullptr, order::release); }  // sync: hazard-left

  // By whoever scans, after its heavy fence; and by the owner.
  const void* read() const noexcept { return word_.load(order::acquire); }  // sync: hazard-left
  const void* mine() const noexcept { return word_.load(order::relaxed); }

 private:
  // word_
  //   written by  the thread whose guard has the slot
  //   read by     whoever scans
  //   order       hazard-left: what was read of the object that was here before was read before. That it is seen in time
  //               is the fences' work
  //   ABA         the same address is the same object for as long as it stands here
  atomic<const void*> word_;
};

}  // namespace polder::smr
