#pragma once
// read_phase — whether a thread is in a piece of reading that may be begun anew, and that somebody asked it to do so.
//
//   paper      Singh, Brown, Mashtizadeh, "NBR: neutralization based reclamation", PPoPP 2021, algorithm 1 (restartable);
//              Brown, "Reclaiming memory for lock-free data structures: there has to be a better way", PODC 2015, section 5
//   progress   wait-free, every step
//   in malloc  no. asked() may run in a signal handler of the owner's
//   invariant  once over() is true after ask(w), nothing that was read in phase w is read any more, unless it stands in a slot that
//              was published before
//   deviation  phases are numbered, so that who asked can wait until the one it saw is over, and a signal that comes late
//              restarts no later one. The paper takes a signal that was sent for one that has arrived (docs/design/0005)
//
//              begin                        end [what is read on stands in slots]
//     outside ─────────▶ inside phase w ──────────────────────────────────────────▶ outside
//     (even)                (odd)  │  ▲
//                                  └──┘ again [nothing is kept], if asked(w): phase w + 2
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class read_phase {
 public:
  using number = std::uint64_t;  // odd: of a phase

  // ---- the owner ---------------------------------------------------------------------------------------------------

  // A light fence follows, then the first read. Releases too, since it writes over the word that ended the last one.
  [[gnu::always_inline]] void begin() noexcept {
    POLDER_CHECK(1, !inside());
    turn(1);
  }
  // A light fence follows, then the first read of the new phase.
  void again() noexcept { turn(2); }
  // What is read on is published.
  [[gnu::always_inline]] void end() noexcept { turn(1); }

  bool inside() const noexcept { return (now_.load(order::relaxed) & 1) != 0; }

  // Whether the phase that it is in is to be begun anew.
  [[gnu::always_inline]] bool asked() const noexcept {
    const number now = now_.load(order::relaxed);
    return (now & 1) != 0 && asked_.load(order::relaxed) >= now;
  }

  // The thread that reads here left, or, in a fork's child, is gone.
  void vacate() noexcept {
    if (inside()) turn(1);
  }

  // ---- anybody, after a heavy fence ------------------------------------------------------------------------------------

  // The phase that it is in; 0: none, and what is read later sees what was unlinked before the fence.
  number current() const noexcept {
    const number now = now_.load(order::acquire);  // sync: phase-over
    return (now & 1) != 0 ? now : 0;
  }

  // Asks the owner to begin phase w anew. True: nobody asked before, so the caller is who sends the signal.
  bool ask(number w) noexcept {
    number seen = asked_.load(order::relaxed);
    while (seen < w) {
      if (asked_.cas(seen, w, order::relaxed, order::relaxed)) return true;
    }
    return false;
  }

  // After ask(w) was true: no signal could be sent, so the next that asks is to try again. Not where anybody waits for over().
  void take_back(number w) noexcept { asked_.cas(w, w - 1, order::relaxed, order::relaxed); }

  // Whether no phase that anybody has asked about goes on: after ask(w), that w is over.
  bool over() const noexcept {
    const number now = now_.load(order::acquire);  // sync: phase-over
    return (now & 1) == 0 || asked_.load(order::relaxed) < now;
  }

 private:
  [[gnu::always_inline]] void turn(number by) noexcept {
    now_.store(now_.load(order::relaxed) + by, order::release);  // sync: phase-over
  }

  // now_
  //   written by  the thread whose seat this is
  //   read by     who reclaims
  //   order       phase-over: what was read in a phase was read, and what is kept of it was published, before it is seen
  //               to be over. That a phase that begins is seen in time, or sees what was unlinked, is the fences' work
  //   ABA         it only grows
  atomic<number> now_;
  // asked_: the latest phase that anybody wants begun anew. Written by who reclaims, by CAS, and only upwards, but for one that
  // is taken back; read by the owner, which may see it late: who asked waits.
  atomic<number> asked_;
};

}  // namespace polder::smr
