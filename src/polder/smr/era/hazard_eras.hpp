#pragma once
// hazard_eras — hazard pointers that publish when a thread reads instead of what: as long as the clock stands still, a
// reader writes nothing.
//
//   paper      Ramalhete, Correia, "Brief announcement: hazard eras — non-blocking memory reclamation", SPAA 2017
//   progress   see info
//   in malloc  no
//   deviation  see era_clock.hpp
#include <polder/smr/era/era_core.hpp>
#include <polder/smr/era/era_slots_guard.hpp>
#include <polder/smr/reclaimer.hpp>
#include <polder/smr/slot_seat.hpp>

namespace polder::smr {

class hazard_era_core : public era_core<hazard_era_core>, public enters_slot_seats<hazard_era_core> {
 public:
  static constexpr scheme_info info = {
      .name = "he",
      .title = "hazard eras",
      .paper = "Ramalhete and Correia, Hazard eras, SPAA 2017",
      .year = 2017,
      .protects = protection::pointer,
      .readers = "lock-free: protect repeats only when the clock moved; opening and closing are wait-free",
      .retirers = "wait-free, but for the allocator's part",
      .bounded = true,
      .bound =
          "what lived in the eras that slots name; of each thread half as much again, or 128, that wait for a look",
      .stall =
          "a thread that stalls inside a guard keeps what lived in the eras of its slots and what itself retired; "
          "one "
          "that idles outside keeps what itself retired since its last look",
      .words_per_object = 1,
  };

  using era_core::era_core;
  using seat = slot_seat<era_slot>;

  void grown(unsigned) const noexcept {}

  template <class Member, class W>
  [[gnu::always_inline]] W protect(Member&, era_slot& slot, const atomic<W>& source) noexcept {
    return slot.protect(source, clock, fences);
  }

  template <class Members, class F>
  void each_span(const Members& members, F&& f) const {
    for (const auto* m = members.first(); m != nullptr; m = m->next) {
      m->seat.each([&](const era_slot& s) {
        if (const era e = s.read(); e != no_era) f(e, e);
      });
    }
  }
};

class hazard_eras {
 public:
  static constexpr scheme_info info = hazard_era_core::info;

  using header = era_header;

  class domain : public limbo_domain<hazard_era_core> {
   public:
    using limbo_domain<hazard_era_core>::limbo_domain;
    static constexpr std::string_view name = info.name;
    void born(member& m, era_header& object) noexcept { scheme().born(m, object); }
  };

  template <unsigned Slots>
  using guard = era_slots_guard<domain, Slots>;
};

}  // namespace polder::smr
