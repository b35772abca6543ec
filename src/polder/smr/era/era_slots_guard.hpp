#pragma once
// era_slots_guard — a guard whose slots hold eras: of hazard eras, and of those that are wait-free.
//
// The scheme is Core's: protect(member, slot, source), and clock.
#include <algorithm>

#include <polder/smr/era/era_core.hpp>
#include <polder/smr/guard.hpp>
#include <polder/smr/slot_map.hpp>
#include <polder/smr/slot_seat.hpp>

namespace polder::smr {

template <class Domain, unsigned Slots>
class era_slots_guard : public retiring_guard<Domain, era_header, era_record> {
  using base = retiring_guard<Domain, era_header, era_record>;

 public:
  // Throws std::bad_alloc.
  [[gnu::always_inline]] explicit era_slots_guard(Domain& d)
      : base(d), slots_(slots_or_close(d, this->member_, Slots)) {}
  [[gnu::always_inline]] ~era_slots_guard() {
    for (unsigned i = 0; i != Slots; ++i) slots_[i].clear();
    this->member_.seat.give(slots_, Slots);
    this->domain_.close(this->member_);
  }

  template <class W>
  [[gnu::always_inline]] W protect(unsigned slot, const atomic<W>& source) noexcept {
    slot_in_range<Slots>(Domain::name, slot);
    const W seen = this->domain_.scheme().protect(this->member_, slots_[map_.alone(slot)], source);
    what_[slot] = address_of(seen);
    return seen;
  }
  // Keeps in this slot, too, what another of this guard keeps now; or what an older guard keeps; or what no thread can
  // have unlinked yet. p has the type that it is retired as, so that its birth is known here if it is known then.
  template <class T>
  [[gnu::always_inline]] void hold(unsigned slot, const T* p) noexcept {
    slot_in_range<Slots>(Domain::name, slot);
    what_[slot] = p;
    for (unsigned i = 0; i != Slots; ++i) {
      if (i != slot && what_[i] == p) return map_.share(slot, i);
    }
    auto& core = this->domain_.scheme();
    const era_header* const h = base::header_of(p);
    const bool born_known = h != nullptr && h->born != no_era;
    slots_[map_.alone(slot)].publish(p == nullptr ? no_era : born_known ? h->born : oldest_kept(core.clock.now()));
    this->member_.seat.taken_over();
    core.fences.light();  // the slot's next use may find that it has the clock's era already
  }
  [[gnu::always_inline]] void clear(unsigned slot) noexcept {
    slot_in_range<Slots>(Domain::name, slot);
    slots_[map_.alone(slot)].clear();
    what_[slot] = nullptr;
  }

 private:
  // The oldest era in the thread's own slots, or now. An object of whose birth nothing is known counts as alive in every era
  // up to its retirement: so if any of those slots keeps it, the oldest era does, which now may not.
  era oldest_kept(era now) const noexcept {
    era oldest = now;
    this->member_.seat.each([&oldest](const era_slot& s) {
      if (const era e = s.mine_or_none(); e != no_era) oldest = std::min(oldest, e);
    });
    return oldest;
  }

  era_slot* const slots_;
  slot_map<Slots> map_;
  const void* what_[Slots] = {};  // by number: what it protects
};

}  // namespace polder::smr
