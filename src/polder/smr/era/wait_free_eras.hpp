#pragma once
// wait_free_eras — hazard eras whose readers are done after so many steps, however the clock runs: one that reads in vain a
// few times asks, and who makes the clock move helps first.
//
//   paper      Nikolaev, Ravindran, "Universal wait-free memory reclamation", PPoPP 2020 (WFE), section 3
//   progress   see info
//   in malloc  no
//   deviation  see era_request.hpp and era_clock.hpp. A thread has one request, not one for each slot: it waits in one read
//              at a time
//
// Who helps reads the asker's word, maybe after the asker has gone on. If the word is in a retired object, the object stays.
// Any other memory that protect() read from, such as the root of a structure, must outlive the guards of this domain that
// are open while it is in use: who frees it while other threads still use the domain calls synchronize() first.
//
// Without memory for a cell a thread cannot help. Then it does not move the clock either, and a look frees nothing.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include <polder/smr/era/era_answers.hpp>
#include <polder/smr/era/era_core.hpp>
#include <polder/smr/era/era_request.hpp>
#include <polder/smr/era/era_slots_guard.hpp>
#include <polder/smr/reclaimer.hpp>
#include <polder/smr/slot_seat.hpp>

namespace polder::smr {

class wait_free_era_core : public era_core<wait_free_era_core>, public enters_slot_seats<wait_free_era_core> {
 public:
  static constexpr scheme_info info = {
      .name = "wfe",
      .title = "wait-free eras: hazard eras whose readers are helped",
      .paper = "Nikolaev and Ravindran, Universal wait-free memory reclamation, PPoPP 2020",
      .year = 2020,
      .protects = protection::pointer,
      .readers = "wait-free: a read that failed 16 times is done by who moves the clock, before it moves",
      .retirers = "wait-free, but for the allocator's part",
      .bounded = true,
      .bound =
          "what lived in the eras that slots name, and while a thread is helped, from the oldest of its own to the "
          "youngest; of each thread half as much again, or 128, that wait for a look",
      .stall =
          "a thread that stalls inside a guard keeps what lived in the eras of its slots, in those of whom it just "
          "helps, and what itself retired; one that idles outside keeps what itself retired since its last look",
      .words_per_object = 1,
  };

  struct options : era_options {
    unsigned tries = 16;  // how often a reader publishes a new era before it asks
  };

  class seat : public slot_seat<era_slot> {
   public:
    void vacate() noexcept {
      request.over();
      aid.clear();
      slot_seat::vacate();
    }
    era_request request;
    era_answers answers;
    era_aid aid;
  };

  explicit wait_free_era_core(const options& chosen) noexcept : era_core(chosen), tries_(chosen.tries) {}

  void grown(unsigned) const noexcept {}

  template <class Members, class F>
  void each_span(const Members& members, F&& f) const {
    each_era_published(members, f);
  }

  template <class Member, class W>
  [[gnu::always_inline]] W protect(Member& m, era_slot& slot, const atomic<W>& source) noexcept {
    W seen;
    if (slot.try_protect(seen, source, clock, fences, tries_)) [[likely]]
      return seen;
    return ask(m, slot, source);
  }

  template <class Members, class Member>
  void born(const Members& members, Member& m, era_header& object) noexcept {
    object.born = clock.now();
    if (--m.turn.until_tick != 0) return;
    m.turn.until_tick = births_an_era();
    if (help(members, m)) clock.tick();
  }
  template <class Members, class Member, class Now>
  void ripen(const Members& members, Member& m, bag<retired_object>& to, Now&& now) {
    if (help(members, m)) era_core::ripen(members, m, to, now);
  }
  template <class Members, class Member>
  bool look_holding_nothing(const Members& members, Member& m) noexcept {
    return help(members, m) && look(members, m.turn);
  }

 private:
  template <class Member, class W>
  POLDER_NOINLINE W ask(Member& m, era_slot& slot, const atomic<W>& source) noexcept {
    using word = era_request::word;
    static_assert(sizeof(W) <= sizeof(word));
    const auto read = [](const void* from) noexcept {
      const W seen = static_cast<const atomic<W>*>(from)->load(order::acquire);  // sync: structure
      word bits = 0;
      std::memcpy(&bits, &seen, sizeof seen);
      return bits;
    };
    span mine{~era{0}, no_era};
    m.seat.each([&](const era_slot& s) {
      const era e = s.mine_or_none();
      if (e != no_era) mine = {std::min(mine.from, e), std::max(mine.to, e)};
    });
    if (mine.to == no_era) mine.from = no_era;
    asking_.fetch_add(1, order::relaxed);
    const word bits =
        m.seat.request.protect(slot, &source, read, mine.from, mine.to, clock, fences,
                               [&m](unsigned n) -> const era_request::answer& { return m.seat.answers.at(n); });
    asking_.fetch_sub(1, order::relaxed);
    W seen;
    std::memcpy(static_cast<void*>(&seen), &bits, sizeof seen);
    return seen;
  }

  // True: whoever had asked has an answer.
  template <class Members, class Member>
  bool help(const Members& members, Member& mine) noexcept {
    if (asking_.load(order::relaxed) == 0) [[likely]]
      return true;
    for (auto* m = members.first(); m != nullptr; m = m->next) {
      if (!m->seat.request.open()) continue;
      era_answers::cell* const cell = m->seat.answers.of(&mine);
      if (cell == nullptr) return false;
      m->seat.request.help(mine.seat.aid, *cell, cell->number.get(), clock, fences);
    }
    return true;
  }

  const unsigned tries_;
  // asking_: how many requests are open. Written by who asks; read by who wants to move the clock. One that comes too late
  // costs the asker one read more. In a fork's child it may stay too high, which costs looks.
  alignas(false_sharing_range) atomic<unsigned> asking_;
};

class wait_free_eras {
 public:
  static constexpr scheme_info info = wait_free_era_core::info;

  using header = era_header;

  class domain : public limbo_domain<wait_free_era_core> {
   public:
    using limbo_domain<wait_free_era_core>::limbo_domain;
    static constexpr std::string_view name = info.name;
    void born(member& m, era_header& object) noexcept { scheme().born(members(), m, object); }
  };

  template <unsigned Slots>
  using guard = era_slots_guard<domain, Slots>;
};

}  // namespace polder::smr
