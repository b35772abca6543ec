#pragma once
// slot_core — what schemes share whose guards say in slots which objects they read: the slots, a look through them, and
// which objects it keeps.
//
//   in malloc  no
//
// Core has each_slot(members, f), look(members, turn) and least(), as sieve.hpp asks; look() ends with read_slots().
#include <algorithm>
#include <cstddef>

#include <polder/smr/fences.hpp>
#include <polder/smr/hazard/hazard_slot.hpp>
#include <polder/smr/kind.hpp>
#include <polder/smr/presence.hpp>
#include <polder/smr/published.hpp>
#include <polder/smr/sieve.hpp>
#include <polder/smr/slot_seat.hpp>

namespace polder::smr {

template <class Core>
class slot_core : public sifted<Core, retired_object>, public enters_slot_seats<slot_core<Core>> {
 public:
  using seat = slot_seat<hazard_slot>;

  struct turn {
    explicit turn(const slot_core& core) noexcept { core.grown(seat::near); }
    published<const void*> seen;
  };

  void grown(unsigned n) const noexcept { slots_.fetch_add(n, order::relaxed); }

  // How many slots there are.
  std::size_t slots() const noexcept { return slots_.load(order::relaxed); }

  template <class Members>
  bool keeps(const Members& members, const turn& t, const retired_object& r) const noexcept {
    const void* const known_by = r.guarded();
    if (t.seen.whole()) return std::binary_search(t.seen.begin_item(), t.seen.end_item(), known_by);
    bool found = false;
    self().each_slot(members, [&](const hazard_slot& s) { found = found || s.read() == known_by; });
    return found;
  }

  template <class Members>
  void synchronize(const Members& members) noexcept {
    wait_for_guards(members, fences);
  }

  smr::fences fences;

 protected:
  explicit slot_core(smr::fences::choice fencing) noexcept : fences(fencing) {}

  // After a heavy fence.
  template <class Members>
  void read_slots(const Members& members, turn& t) const noexcept {
    t.seen.begin();
    self().each_slot(members, [&](const hazard_slot& s) {
      if (const void* const p = s.read()) t.seen.add(p);
    });
    t.seen.end();
  }

 private:
  const Core& self() const noexcept { return *static_cast<const Core*>(this); }

  // slots_: how many there are. Written by who makes some, read by who retires; it only grows, and late is harmless.
  mutable atomic<std::size_t> slots_;
};

}  // namespace polder::smr
