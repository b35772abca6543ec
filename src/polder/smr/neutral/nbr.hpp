#pragma once
// nbr — NBR+: readers publish nothing while they read; before their objects are freed they are made to begin anew.
//
//   paper      Singh, Brown, Mashtizadeh, "NBR: neutralization based reclamation", PPoPP 2021; NBR+: section 5 there, and
//              "Simple, fast and widely applicable concurrent memory reclamation via neutralization", IEEE TPDS 35(2), 2024
//   progress   see info
//   in malloc  no
//   invariant  an object that is freed was unlinked before a round began; since then every phase that the round saw has
//              ended or begun anew, and the object stood in no slot after that
//   deviation  only who is in a phase is told, and who asks waits until it has begun anew or is done: see delivery, and
//              docs/design/0005. Rounds are counted (rounds.hpp), not stamped by thread. What a phase keeps stands in a
//              guard's slots, which are hazard pointers: so protect() outside a phase is one, for what a write has to
//              look up besides, and guards nest. A phase begins where its callable does, so no frame of the structure's is
//              left by it
#include <sched.h>

#include <cstddef>

#include <polder/smr/drain.hpp>
#include <polder/smr/hazard/slot_core.hpp>
#include <polder/smr/hazard/slot_guard.hpp>
#include <polder/smr/limbo_domain_whole.hpp>
#include <polder/smr/neutral/marked_sieve.hpp>
#include <polder/smr/neutral/neutraliser.hpp>
#include <polder/smr/neutral/reader.hpp>
#include <polder/smr/neutral/restartable_guard.hpp>
#include <polder/smr/neutral/rounds.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

// When a reader that was told has been told.
enum class delivery {
  acknowledged,  // when its phase is over: certain, whatever the kernel does
  by_the_kernel,  // when the signal is pending and membarrier(2) has returned, which interrupts all processors: nobody is
  // waited for. Linux keeps it (docs/design/0005), for threads that do not block the signal; whoever only
  // looks like Linux may not
};

class nbr_core : public slot_core<nbr_core> {
 public:
  static constexpr scheme_info info = {
      .name = "nbr-plus",
      .title = "NBR+: neutralization based reclamation",
      .paper = "Singh, Brown and Mashtizadeh, NBR, PPoPP 2021; NBR+, IEEE TPDS 2024",
      .year = 2021,
      .protects = protection::pointer,
      .readers =
          "lock-free: a phase begins anew only when another thread has retired a bagful; the rest is wait-free",
      .retirers =
          "blocking: who has a bagful waits for those in a phase to notice the signal; lock-free if the kernel "
          "is trusted with it",
      .bounded = true,
      .bound =
          "of a thread: as many objects as there are slots, and max(1024, slots / 2) that it retired since the "
          "last round",
      .stall =
          "a thread that stalls in a read phase keeps nothing: it begins anew when it goes on; elsewhere in a "
          "guard, what its slots hold; and what itself retired",
      .words_per_object = 0,
  };
  static constexpr drain_policy usual_drain{};

  struct options {
    // How many objects a thread retires before it tells all readers to begin anew; at half it looks who else did.
    unsigned retires_a_round = 1024;
    smr::delivery delivered = smr::delivery::acknowledged;
    smr::fences::choice fencing = smr::fences::choice::as_the_kernel_allows;
  };

  using bags = marked_sieve<retired_object>;

  class seat : public slot_seat<hazard_slot> {
   public:
    void vacate() noexcept {
      reads.phase.vacate();
      slot_seat::vacate();
    }
    reader reads;
  };

  struct turn : slot_core::turn {
    using slot_core::turn::turn;
    enum class sift : unsigned char { all, marked, none };
    sift next = sift::all;         // what the next ripen() is for
    rounds::number marked_at = 0;  // while the bag is marked
  };

  explicit nbr_core(const options& chosen) noexcept : slot_core(chosen.fencing), options_(chosen) {
    neutraliser::install();
  }

  std::size_t least() const noexcept { return options_.retires_a_round; }

  // At half of what makes a round due: from there on each retire looks.
  template <class Member>
  [[gnu::always_inline]] bool full(const Member& m, std::size_t) const noexcept {
    return m.bags.full(options_.retires_a_round / 2);
  }

  template <class Members, class Member, class Free>
  void step(const Members&, Member& m, Free&&) noexcept {
    using sift = turn::sift;
    if (m.bags.full(options_.retires_a_round)) {
      m.turn.next = sift::all;
    } else if (!m.bags.full(options_.retires_a_round / 2)) {
      m.turn.next = sift::none;
    } else if (!m.bags.is_marked()) {
      m.bags.mark();
      m.turn.marked_at = rounds_.mark();
      m.turn.next = sift::none;
    } else {
      m.turn.next = rounds_.since(m.turn.marked_at) ? sift::marked : sift::none;
    }
  }

  template <class Members, class Member, class Now>
  void ripen(const Members& members, Member& m, bag<retired_object>& to, Now&& now) {
    const auto keep = [&](const retired_object& r) { return keeps(members, m.turn, r); };
    switch (std::exchange(m.turn.next, turn::sift::all)) {
      case turn::sift::none: return;
      case turn::sift::marked:
        read_slots(members, m.turn);
        m.bags.sift_marked(keep, to, now);
        shared_.fetch_add(1, order::relaxed);
        return;
      case turn::sift::all:
        if (look(members, m.turn)) m.bags.sift(keep, to, now);
    }
  }

  // A round of its own.
  template <class Members>
  bool look(const Members& members, turn& t) noexcept {
    const rounds::number n = rounds_.begin();
    if (!fences.heavy()) return false;
    bool all_told = true, some = false;
    for (auto* m = members.first(); m != nullptr; m = m->next) {
      const read_phase::number w = m->seat.reads.phase.current();
      if (w == 0) continue;
      some = true;
      // Who was told is being told: where its answer is waited for, once is enough.
      if (m->seat.reads.phase.ask(w) || !waits()) all_told = m->seat.reads.tell() && all_told;
    }
    if (some && (waits() || !all_told || !fences.heavy())) await(members);
    rounds_.end(n);
    read_slots(members, t);
    return true;
  }

  template <class Members, class F>
  void each_slot(const Members& members, F&& f) const {
    for (const auto* m = members.first(); m != nullptr; m = m->next) m->seat.each(f);
  }

  // Whether a round waits for readers: as asked for, or since the kernel has not the means.
  bool waits() const noexcept {
    return neutraliser::polls || options_.delivered == delivery::acknowledged || !fences.asymmetric();
  }

  // How many rounds there were, and how often a thread did with another's.
  std::uint64_t rounds_begun() const noexcept { return rounds_.mark(); }
  std::uint64_t rounds_shared() const noexcept { return shared_.load(order::relaxed); }

 private:
  // Until no phase goes on that somebody has asked about.
  template <class Members>
  static void await(const Members& members) noexcept {
    for (auto* m = members.first(); m != nullptr; m = m->next) {
      for (unsigned n = 0; !m->seat.reads.phase.over(); ++n) {
        if (n > spins) sched_yield();
      }
    }
  }
  static constexpr unsigned spins = 100;

  rounds rounds_;
  atomic<std::uint64_t> shared_;  // a figure
  const options options_;
};

class nbr {
 public:
  static constexpr scheme_info info = nbr_core::info;
  static constexpr bool restarts = true;

  struct header {};

  class domain : public limbo_domain<nbr_core> {
   public:
    static constexpr scheme_info info = nbr_core::info;
    using limbo_domain<nbr_core>::limbo_domain;
  };

  template <unsigned Slots>
  class guard : public restartable_guard<slot_guard<domain, header, Slots>, domain> {
    using base = restartable_guard<slot_guard<domain, header, Slots>, domain>;

   public:
    using base::base;

    // What a read phase sees the guard as.
    class view {
     public:
      // What it points to stays readable until the phase ends.
      template <class W>
      [[gnu::always_inline]] W protect(unsigned slot, const atomic<W>& source) const noexcept {
        base::in_range(slot);
        reads_.poll();
        return source.load(order::acquire);  // sync: structure: who wrote the word made the node whole before
      }
      // p stays readable after the phase, until the slot is used again.
      [[gnu::always_inline]] void reserve(unsigned slot, const void* p) const noexcept {
        base::in_range(slot);
        slots_[slot].publish(p);
        seat_.taken_over();  // p may be an older guard's
      }

     private:
      friend guard;
      view(nbr_core::seat& s, hazard_slot* slots) noexcept : reads_(s.reads), seat_(s), slots_(slots) {}
      const reader& reads_;
      nbr_core::seat& seat_;
      hazard_slot* const slots_;
    };

    // Runs read(view&) in a read phase, once or more, and returns what it returned at last. Nothing that the guard gave
    // before is readable in it or after it, but for what other guards of the thread keep. See reader.hpp for what a phase
    // may not do.
    template <class Read>
    [[gnu::always_inline]] auto read(Read read) {
      not_reading(info.name, "a read phase inside a read phase");
      this->map_ = {};
      nbr_core::seat& seat = this->member_.seat;
      return seat.reads.run(
          this->domain_.scheme().fences, [] {}, view(seat, this->slots_), read);
    }
  };
};

}  // namespace polder::smr
