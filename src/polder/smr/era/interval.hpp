#pragma once
// interval — 2GE-IBR: a guard publishes the eras from its opening to its latest read; what lived in none of them is freed.
//
//   paper      Wen, Izraelevitz, Cai, Beadle, Scott, "Interval-based memory reclamation", PPoPP 2018, section 3 (2GE-IBR)
//   progress   see info
//   in malloc  no
//   deviation  see era_clock.hpp
//
// Why it is no region scheme, though it has no slots. A reader stands on Y, which was unlinked; Y still points to X, which
// was born after the reader's last look at the clock, was linked behind Y before Y went, and has been unlinked and retired
// since. No published interval reaches X's birth, so X may be freed; and the reader, which now reads the clock, publishes
// too late, since Y's word never changes. (Sheffi and Petrank, "The ERA theorem for safe memory reclamation", PODC 2022:
// no scheme is easy to put in, robust and fit for such structures.) Structures that read on from unlinked nodes need more;
// what protect() returned from a word that was still part of the structure stays until the guard closes. A model
// (era_clock_model.cpp) finds the execution above.
#include <polder/smr/era/era_core.hpp>
#include <polder/smr/guard.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

class interval_core : public era_core<interval_core> {
 public:
  static constexpr scheme_info info = {
      .name = "2ge-ibr",
      .title = "interval-based reclamation with two global eras",
      .paper = "Wen, Izraelevitz, Cai, Beadle and Scott, Interval-based memory reclamation, PPoPP 2018",
      .year = 2018,
      .protects = protection::pointer,
      .readers = "lock-free: protect repeats only when the clock moved; opening and closing are wait-free",
      .retirers = "wait-free, but for the allocator's part",
      .bounded = true,
      .bound =
          "what was born before the era that a guard read last, and was not retired when it opened; of each thread "
          "half as "
          "much again, or 128, that wait for a look, and as many that its own guard kept from the last one",
      .stall =
          "a thread that stalls inside a guard keeps what lived in its interval and what itself retired; one that "
          "idles outside keeps what itself retired since its last look",
      .words_per_object = 1,
  };

  using era_core::era_core;

  class seat : public presence {
   public:
    void vacate() noexcept {
      interval.leave();
      presence::vacate();
    }
    era_interval interval;
    era to = no_era;  // owner only: what interval ends with
  };

  template <class Member>
  [[gnu::always_inline]] void enter(Member& m) noexcept {
    m.seat.enter();
    m.seat.to = m.seat.interval.enter(clock, fences);
  }
  template <class Member>
  [[gnu::always_inline]] void leave(Member& m) noexcept {
    m.seat.interval.leave();
    m.seat.leave();
  }

  template <class Members, class Member>
  bool look_holding_nothing(const Members& members, Member& m) noexcept {
    m.seat.interval.leave();
    const bool seen = look(members, m.turn);
    m.seat.to = m.seat.interval.enter(clock, fences);
    return seen;
  }

  template <class Members, class F>
  void each_span(const Members& members, F&& f) const {
    for (const auto* m = members.first(); m != nullptr; m = m->next) {
      if (const era from = m->seat.interval.from(); from != no_era) f(from, m->seat.interval.to());
    }
  }
};

class interval {
 public:
  static constexpr scheme_info info = interval_core::info;

  using header = era_header;

  class domain : public limbo_domain<interval_core> {
   public:
    using limbo_domain<interval_core>::limbo_domain;
    void born(member& m, era_header& object) noexcept { scheme().born(m, object); }
  };

  template <unsigned Slots>
  class guard : public retiring_guard<domain, header, era_record> {
    using base = retiring_guard<domain, header, era_record>;

   public:
    [[gnu::always_inline]] explicit guard(domain& d) : base(d) {}
    [[gnu::always_inline]] ~guard() { this->domain_.close(this->member_); }

    // What it points to stays readable until the guard closes.
    template <class W>
    [[gnu::always_inline]] W protect(unsigned slot, const atomic<W>& source) noexcept {
      slot_in_range<Slots>(info.name, slot);
      auto& core = this->domain_.scheme();
      auto& seat = this->member_.seat;
      return seat.interval.protect(source, seat.to, core.clock, core.fences);
    }
    [[gnu::always_inline]] void hold(unsigned slot, const void*) const noexcept {
      slot_in_range<Slots>(info.name, slot);
    }
    [[gnu::always_inline]] void clear(unsigned slot) const noexcept { slot_in_range<Slots>(info.name, slot); }
  };
};

}  // namespace polder::smr
