#pragma once
// hazard — hazard pointers: each guard says which objects it reads, and nothing else is kept from being freed.
//
//   paper      Michael, "Hazard pointers: safe memory reclamation for lock-free objects", IEEE TPDS 15(6), 2004
//   progress   see info
//   in malloc  no
//   invariant  an object that is freed by a look was unlinked before the look's heavy fence and stood in no slot after it
//   deviation  fences are asymmetric. Slots belong to guards, not to threads. What is retired waits in chunks of a page
//              instead of a list. The published pointers are sorted, as in the paper, where there is memory for a copy;
//              else each object is looked up in the slots themselves. A slot that no thread has is lent by the domain
//              (lend, for smr/std_hazard_pointer.hpp)
//
// The paper's scan threshold R: here a look follows max(retires_a_look, slots) retires, so that it costs each of them
// O(log slots) at most, and what it leaves is no more than there are slots.
#include <cstddef>

#include <polder/smr/drain.hpp>
#include <polder/smr/fences.hpp>
#include <polder/smr/hazard/hazard_slot.hpp>
#include <polder/smr/hazard/lent_slots.hpp>
#include <polder/smr/hazard/slot_core.hpp>
#include <polder/smr/hazard/slot_guard.hpp>
#include <polder/smr/limbo_domain_whole.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

class hazard_core : public slot_core<hazard_core> {
 public:
  static constexpr scheme_info info = {
      .name = "hp",
      .title = "hazard pointers",
      .paper = "Michael, Hazard pointers: safe memory reclamation for lock-free objects, IEEE TPDS 2004",
      .year = 2004,
      .protects = protection::pointer,
      .readers = "lock-free: protect repeats only when the word changed; opening and closing are wait-free",
      .retirers = "wait-free, but for the allocator's part",
      .bounded = true,
      .bound =
          "of a thread: as many objects as there are slots, and max(128, slots) that it retired since its last "
          "look",
      .stall =
          "a thread that stalls inside a guard keeps what its slots hold and what itself retired; one that idles "
          "outside keeps what itself retired since its last look",
      .words_per_object = 0,
  };
  static constexpr drain_policy usual_drain{};

  struct options {
    // How many objects a thread retires before it looks at the slots, or more, if there are more slots.
    unsigned retires_a_look = 128;
    smr::fences::choice fencing = smr::fences::choice::as_the_kernel_allows;
  };

  explicit hazard_core(const options& chosen) noexcept : slot_core(chosen.fencing), options_(chosen) {}

  std::size_t least() const noexcept {
    return slots() > options_.retires_a_look ? slots() : options_.retires_a_look;
  }

  template <class Members>
  bool look(const Members& members, turn& t) noexcept {
    if (!fences.heavy()) return false;
    read_slots(members, t);
    return true;
  }

  template <class Members, class F>
  void each_slot(const Members& members, F&& f) const {
    for (const auto* m = members.first(); m != nullptr; m = m->next) m->seat.each(f);
    lent_.each(f);
  }

  template <class Members, class Member, class Now>
  bool settle(const Members& members, Member& m, bags::parcel& old, bag<retired_object>& to, Now&& now) {
    if (!slot_core::settle(members, m, old, to, now)) return false;
    bool held = !old.safe.empty();
    const auto look_at = [&](const retired_object& r) {
      bool for_good = false;
      lent_.each_as_at_fork([&](const hazard_slot& s) { for_good = for_good || s.read() == r.guarded(); });
      held = held || !for_good;
      return true;
    };
    m.bags.sift(old.waiting, look_at, to, now);
    return held;
  }
  void after_fork() noexcept { lent_.after_fork(); }

  // A slot that belongs to no thread, until give_back(). Throws std::bad_alloc.
  hazard_slot& lend() {
    return lent_.lend([this](unsigned n) { grown(n); });
  }
  void give_back(hazard_slot& s) noexcept { lent_slots::give_back(s); }

 private:
  lent_slots lent_;
  const options options_;
};

class hazard {
 public:
  static constexpr scheme_info info = hazard_core::info;

  struct header {};

  class domain : public limbo_domain<hazard_core> {
   public:
    static constexpr scheme_info info = hazard_core::info;
    using limbo_domain<hazard_core>::limbo_domain;
  };

  template <unsigned Slots>
  using guard = slot_guard<domain, header, Slots>;
};

}  // namespace polder::smr
