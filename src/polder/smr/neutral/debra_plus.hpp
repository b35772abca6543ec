#pragma once
// debra_plus — DEBRA whose readers, when they hold up the epoch, are told to begin anew in the present one.
//
//   paper      Brown, "Reclaiming memory for lock-free data structures: there has to be a better way", PODC 2015, section 5
//              (DEBRA+)
//   progress   see info
//   in malloc  no
//   deviation  only who is in a read phase is told; and it is counted as passed when it has announced anew, not when the
//              signal was sent. So nobody waits for it, and no recovery is needed
//
// Why not elsewhere. DEBRA+ tells a thread wherever it is inside an operation; if it was updating, code that the structure's
// author wrote finishes the operation from a descriptor, over objects that hazard pointers keep. Without such code a write
// that was left in the middle is done or not done, and nobody can say which: a node is leaked, or linked and freed. In a
// read phase nothing is written, so it can be left anywhere. A guard inside another one is not told either: to announce
// anew would give up what the outer one reads.
#include <cstddef>
#include <cstdint>

#include <polder/smr/epoch/epoch.hpp>
#include <polder/smr/neutral/neutraliser.hpp>
#include <polder/smr/neutral/reader.hpp>
#include <polder/smr/neutral/restartable_guard.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

namespace advance {

struct neutralising : scan_one {
  static constexpr scheme_info info =
      epoch_info("debra-plus", "DEBRA+: DEBRA, and who holds up the epoch in a read phase is neutralised",
                 "Brown, Reclaiming memory for lock-free data structures, PODC 2015, sec. 5", 2015,
                 "none while a thread stays inside a guard, but outside a read phase, or does not run at all; else "
                 "what all threads "
                 "retire in three epochs",
                 "a thread that stalls in a read phase begins anew and holds up nothing; one that stalls elsewhere "
                 "inside a guard "
                 "stops all reclamation until it goes on; one that idles outside stops none");
};

}  // namespace advance

class debra_plus_core : public epoch_core<advance::neutralising> {
  using base = epoch_core<advance::neutralising>;

 public:
  struct options : base::options {
    // How many objects of a thread's wait before it tells those who hold up the epoch. Above what comes of itself.
    std::size_t suspect_above = 1024;
  };

  class seat : public base::seat {
   public:
    void vacate() noexcept {
      reads.phase.vacate();
      base::seat::vacate();
    }
    reader reads;
  };

  explicit debra_plus_core(const options& chosen) noexcept : base(chosen), suspect_above_(chosen.suspect_above) {
    neutraliser::install();
  }

  template <class Members, class Member, class Free>
  void step(const Members& members, Member& m, Free&& free) noexcept {
    const bool looks = m.turn.until_check.due();
    base::step(members, m, free);
    if (looks && m.bags.waiting() > suspect_above_) neutralise(members, m.turn.announced);
  }

  template <class Members, class Member>
  void hurry(const Members& members, Member& m) noexcept {
    base::hurry(members, m);
    neutralise(members, m.turn.announced);
  }

 private:
  // Whoever has not passed e and is in a phase. A heavy fence is not needed: a phase that is not seen is told next time.
  template <class Members>
  static void neutralise(const Members& members, std::uint64_t e) noexcept {
    for (auto* m = members.first(); m != nullptr; m = m->next) {
      if (epoch_clock::passed(m->seat, e)) continue;
      const read_phase::number w = m->seat.reads.phase.current();
      if (w != 0 && m->seat.reads.phase.ask(w) && !m->seat.reads.tell()) m->seat.reads.phase.take_back(w);
    }
  }

  const std::size_t suspect_above_;
};

class debra_plus : public limbo_scheme<debra_plus_core> {
  using scheme = limbo_scheme<debra_plus_core>;

 public:
  static constexpr bool restarts = true;

  class domain : public scheme::domain {
   public:
    static constexpr scheme_info info = debra_plus_core::info;
    using scheme::domain::domain;
  };

  template <unsigned Slots>
  class guard : public restartable_guard<scheme::guard<Slots>, domain> {
    using base = restartable_guard<scheme::guard<Slots>, domain>;

   public:
    using base::base;

    class view {
     public:
      template <class W>
      [[gnu::always_inline]] W protect(unsigned slot, const atomic<W>& source) const noexcept {
        slot_in_range<Slots>(debra_plus::info.name, slot);
        reads_.poll();
        return source.load(order::acquire);  // sync: structure: who wrote the word made the node whole before
      }
      // The epoch that the phase was begun in keeps it until the guard closes.
      [[gnu::always_inline]] void reserve(unsigned slot, const void*) const noexcept {
        slot_in_range<Slots>(debra_plus::info.name, slot);
      }

     private:
      friend guard;
      explicit view(const reader& reads) noexcept : reads_(reads) {}
      const reader& reads_;
    };

    // As nbr's (neutral/nbr.hpp).
    template <class Read>
    [[gnu::always_inline]] auto read(Read read) {
      not_reading(debra_plus::info.name, "a read phase inside a read phase");
      auto& m = this->member_;
      view seen(m.seat.reads);
      if (m.depth != 1) [[unlikely]]
        return read(seen);
      auto& core = this->domain_.scheme();
      const std::uint64_t before = m.turn.announced;
      const auto found = m.seat.reads.run(
          core.fences, [&core, &m] { core.renew(m); }, seen, read);
      // What became safe makes room for what is retired in the epoch that is announced now.
      if (m.turn.announced != before) [[unlikely]]
        m.bags.ripen(m.turn.announced, m.bags.safe);
      return found;
    }
  };
};

}  // namespace polder::smr
