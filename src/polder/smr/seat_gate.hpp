#pragma once
// seat_gate — who may touch the bags of a member of a domain: its thread while inside, or somebody who claimed it.
//
//   paper      none. As in sync/lab_state.hpp, an asymmetric Dekker between `inside` and `state`, here without a limit
//   progress   wait-free, every step; whoever claims a seat with an owner waits until that is outside, or gives up
//   in malloc  no
//   invariant  bags are touched by the owner between enter and leave, or by the claimer from the moment it has seen
//              the owner outside until end()
//
// States. An arrow is one successful CAS or a store; in brackets, what its thread owes or owns.
//
//              try_own [the bags are mine while I am inside]
//        ┌──────────────────────────────────────────────▶ owned
//      free ◀───────────────────────────────────────────── │ ▲
//       │ ▲            disown [nothing]                    │ │ end
//       │ │                                      try_claim │ │
//       │ │ end                        [wait for outside]  ▼ │
//       │ └───────────── left ◀────────────────────────── claimed
//       │                       walk_away, disown
//       │                       [take another seat]
//       └──────────▶ taken ──▶ free
//          try_take         end
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

enum class seat_state : std::uint32_t {
  free,     // no thread's; the bags may hold what one left
  owned,    // one thread's
  claimed,  // the owner stays outside, or leaves for another seat, while somebody works on its bags
  left,     // the owner went away while it was claimed
  taken,    // no thread's, and somebody works on its bags
};

constexpr bool legal(seat_state from, seat_state to) {
  switch (from) {
    case seat_state::free: return to == seat_state::owned || to == seat_state::taken;
    case seat_state::owned: return to == seat_state::free || to == seat_state::claimed;
    case seat_state::claimed: return to == seat_state::owned || to == seat_state::left;
    case seat_state::left:
    case seat_state::taken: return to == seat_state::free;
  }
  return false;
}

class seat_gate {
 public:
  // ---- a thread that looks for a seat, or has one ------------------------------------------------------------------

  [[nodiscard]] bool try_own() noexcept {
    return step(seat_state::free, seat_state::owned, order::acquire);  // sync: seat-handover
  }

  // After the announcement of being inside and a light fence. False: announce that it left, then walk_away().
  [[nodiscard]] bool still_mine() const noexcept {
    return state_.load(order::acquire) == seat_state::owned;  // sync: claim-over
  }

  // Outside. True: the seat is gone, take another. False: the claim is over, enter again.
  [[nodiscard]] bool walk_away() noexcept {
    return step(seat_state::claimed, seat_state::left, order::release);  // sync: seat-handover
  }

  // Outside, for good.
  void disown() noexcept {
    while (!step(seat_state::owned, seat_state::free, order::release) &&    // sync: seat-handover
           !step(seat_state::claimed, seat_state::left, order::release)) {  // sync: seat-handover
    }
  }

  // ---- somebody else -----------------------------------------------------------------------------------------------

  // Of a seat without a thread. True: the bags are the caller's until end().
  [[nodiscard]] bool try_take() noexcept {
    return step(seat_state::free, seat_state::taken, order::acquire);  // sync: seat-handover
  }

  // Of a seat with a thread. True: the bags are the caller's until end(), once it has passed a heavy fence and then seen
  // the owner outside.
  [[nodiscard]] bool try_claim() noexcept {
    return step(seat_state::owned, seat_state::claimed, order::acquire);  // sync: seat-handover
  }

  // After try_take() or try_claim().
  void end() noexcept {
    if (state() == seat_state::claimed && step(seat_state::claimed, seat_state::owned, order::release))
      return;  // sync: claim-over
    POLDER_CHECK(1, state() == seat_state::left || state() == seat_state::taken);
    state_.exchange(seat_state::free, order::acq_rel);  // sync: seat-handover: an owner's that left, to the next
  }

  // In a fork's child, whose thread is the only one: what was anybody's is nobody's. `works`: that thread is the one that
  // had claimed or taken seats, and owes end().
  void abandon_after_fork(bool works) noexcept {
    const seat_state was = state();
    const bool owes_end = works && was != seat_state::free && was != seat_state::owned;
    state_.store(owes_end ? seat_state::taken : seat_state::free, order::relaxed);
  }
  void keep_after_fork() noexcept { state_.store(seat_state::owned, order::relaxed); }

  [[nodiscard]] seat_state state() const noexcept { return state_.load(order::relaxed); }

 private:
  [[nodiscard]] bool step(seat_state from, seat_state to, order success) noexcept {
    POLDER_CHECK(1, legal(from, to));
    seat_state expected = from;
    return state_.cas(expected, to, success, order::relaxed);
  }

  // state_
  //   written by  the owner, and whoever claims, by CAS; by a claimer that has it alone, by a store
  //   read by     the owner each time it enters; anybody who looks for a seat or for garbage
  //   order       seat-handover: the bags as the last holder left them. claim-over: the same, to an owner that stayed.
  //               An owner that enters stores `inside`, then loads this; a claimer stores this, then loads `inside`:
  //               the light fence and the heavy fence between keep both from missing each other
  //   ABA         free → owned → free means that the bags were somebody's in between, and are now whose CAS succeeded
  atomic<seat_state> state_;
};

}  // namespace polder::smr
