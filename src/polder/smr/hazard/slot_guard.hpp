#pragma once
// slot_guard — a guard with slots of its own: an object is protected by the slot that protect() was given, until that is used
// again.
#include <polder/smr/guard.hpp>
#include <polder/smr/hazard/hazard_slot.hpp>
#include <polder/smr/slot_map.hpp>
#include <polder/smr/slot_seat.hpp>

namespace polder::smr {

// Domain is that of a slot_core.
template <class Domain, class Header, unsigned Slots>
class slot_guard : public retiring_guard<Domain, Header, bare_record> {
  using base = retiring_guard<Domain, Header, bare_record>;

 public:
  // Throws std::bad_alloc.
  [[gnu::always_inline]] explicit slot_guard(Domain& d)
      : base(d), slots_(slots_or_close(d, this->member_, Slots)) {}
  [[gnu::always_inline]] ~slot_guard() {
    for (unsigned i = 0; i != Slots; ++i) slots_[i].clear();
    this->member_.seat.give(slots_, Slots);
    this->domain_.close(this->member_);
  }

  // Reads the word; what it points to stays readable until the slot is used again.
  template <class W>
  [[gnu::always_inline]] W protect(unsigned slot, const atomic<W>& source) noexcept {
    in_range(slot);
    return slots_[map_.alone(slot)].protect(source, this->domain_.scheme().fences,
                                            [](const W& w) { return address_of(w); });
  }
  // Keeps in this slot, too, what another of this guard keeps now; or what an older guard keeps; or what no thread can
  // have unlinked yet.
  [[gnu::always_inline]] void hold(unsigned slot, const void* p) noexcept {
    in_range(slot);
    for (unsigned i = 0; i != Slots; ++i) {
      if (slots_[map_.of(i)].mine() == p) return map_.share(slot, i);
    }
    slots_[map_.alone(slot)].publish(p);
    this->member_.seat.taken_over();
  }
  [[gnu::always_inline]] void clear(unsigned slot) noexcept {
    in_range(slot);
    slots_[map_.alone(slot)].clear();
  }

 protected:
  [[gnu::always_inline]] static void in_range(unsigned slot) noexcept {
    slot_in_range<Slots>(Domain::info.name, slot);
  }

  hazard_slot* const slots_;
  slot_map<Slots> map_;
};

}  // namespace polder::smr
