#pragma once
// presence — whether a member is inside a guard, and how often it was, for those who wait for it.
//
//   progress   wait-free
//   in malloc  no
#include <sched.h>

#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/smr/between_tries.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class presence {
 public:
  bool inside() const noexcept { return (word() & 1) != 0; }
  std::uint64_t word() const noexcept { return entered_.load(order::acquire); }  // sync: guard-left

  [[gnu::always_inline]] void enter() noexcept { turn(); }
  [[gnu::always_inline]] void leave() noexcept { turn(); }

  // The member's own, outside, or anybody's in a fork's child.
  void vacate() noexcept {
    entered_.store((entered_.load(order::relaxed) | 1) + 1, order::release);  // sync: guard-left
  }

 private:
  [[gnu::always_inline]] void turn() noexcept {
    entered_.store(entered_.load(order::relaxed) + 1, order::release);  // sync: guard-left
  }

  // entered_: even outside, odd inside; each entering and leaving adds one.
  //   written by  the member's thread
  //   read by     who waits for its guard, who claims its seat
  //   order       guard-left: what was read inside was read before
  //   ABA         it only grows
  atomic<std::uint64_t> entered_;
};

// Whoever is inside is in the way, and whoever is outside is not: a scheme's press() and obstacle(). A member's seat is a
// presence, or shows itself as one does.
struct obstacles_inside {
  template <class Members>
  void press(const Members&) const noexcept {}
  template <class Member>
  std::uint64_t obstacle(const Member& m) const noexcept {
    const std::uint64_t word = m.seat.word();
    return (word & 1) != 0 ? word : 0;
  }
};

// Waits for every guard that is open now. The caller is outside; a member's seat is a presence.
template <class Members, class Fences>
void wait_for_guards(const Members& members, const Fences& fences) noexcept {
  while (!fences.heavy()) between_tries(fences);
  for (const auto* m = members.first(); m != nullptr; m = m->next) {
    const std::uint64_t word = m->seat.word();
    while ((word & 1) != 0 && m->seat.word() == word) sched_yield();
  }
}

}  // namespace polder::smr
