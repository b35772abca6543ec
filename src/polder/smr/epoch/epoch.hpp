#pragma once
// epoch — epoch-based reclamation: a global epoch, and three ways to move it.
//
//   paper      Fraser 2004 (EBR); Hart, McKenney, Brown, Walpole, "Performance of memory reclamation for lockless
//              synchronization", JPDC 2007 (QSBR); Brown, PODC 2015 (DEBRA). The thesis (Kim), 2.1.1, measures DEBRA
//   progress   see info
//   in malloc  no
//   deviation  DEBRA frees a bag when its own thread announces the third epoch after; so do all of ours, whoever moved
//              the epoch. Fences are asymmetric. EBR sweeps all members once in `operations_a_check` operations, DEBRA
//              looks at one member as often
#include <algorithm>
#include <cstdint>

#include <polder/os/timeline.hpp>
#include <polder/smr/between_tries.hpp>
#include <polder/smr/countdown.hpp>
#include <polder/smr/drain.hpp>
#include <polder/smr/epoch/epoch_clock.hpp>
#include <polder/smr/fences.hpp>
#include <polder/smr/guard.hpp>
#include <polder/smr/limbo.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

namespace advance {

// What the three say alike; QSBR says the last two otherwise.
constexpr scheme_info epoch_info(
    std::string_view name, std::string_view title, std::string_view paper, int year,
    std::string_view bound =
        "none while a thread stays inside a guard; else what all threads retire in three epochs",
    std::string_view stall =
        "a thread that stalls inside a guard stops all reclamation after it until it goes on; one "
        "that idles outside stops none") {
  return {
      .name = name,
      .title = title,
      .paper = paper,
      .year = year,
      .protects = protection::region,
      .readers = "lock-free: entering repeats only when the epoch advanced; the rest is wait-free",
      .retirers = "wait-free, but for the allocator's part",
      .bounded = false,
      .bound = bound,
      .stall = stall,
      .words_per_object = 0,
  };
}

struct scan_all {
  static constexpr scheme_info info = epoch_info("ebr", "epoch-based reclamation, all threads looked at once",
                                                 "Fraser, Practical lock-freedom, 2004", 2004);
  static constexpr bool all_at_once = true;
  static constexpr bool outside_counts = true;  // a member outside any guard has passed
};

struct scan_one {
  static constexpr scheme_info info =
      epoch_info("debra", "distributed epoch-based reclamation: one thread looked at a time",
                 "Brown, Reclaiming memory for lock-free data structures, PODC 2015", 2015);
  static constexpr bool all_at_once = false;
  static constexpr bool outside_counts = true;
};

struct quiescent {
  static constexpr scheme_info info = epoch_info(
      "qsbr", "quiescent-state-based reclamation: a thread is waited for until it opens its next guard, or leaves",
      "Hart, McKenney, Brown and Walpole, JPDC 2007", 2007,
      "none while a thread stays inside a guard or idles; else what all threads retire in three epochs",
      "a thread that stalls inside a guard, or idles outside one, stops reclamation until it opens its next guard "
      "or "
      "detaches; drain() and synchronize() wait for guards only");
  static constexpr bool all_at_once = false;
  static constexpr bool outside_counts = false;
};

}  // namespace advance

template <class Advance>
class epoch_core : public grace_periods<epoch_core<Advance>, epoch_clock::lag> {
 public:
  static constexpr scheme_info info = Advance::info;
  static constexpr drain_policy usual_drain{};

  struct options {
    // How many guards a thread opens between two looks at others. Smaller: less garbage, more looks; 0: as 1.
    unsigned operations_a_check = 100;
    // How many it opens in an epoch before it passes the heavy fence with which the looks begin, unless it retires
    // `bytes_an_epoch` sooner or another has passed it. Smaller: less garbage, more fences. A fence interrupts every
    // processor that runs a thread of this process: one every 100 operations took half of two threads' time (a virtual
    // machine, 2026-11).
    unsigned operations_an_epoch = 500;
    std::size_t bytes_an_epoch = 1024 * 1024;
    smr::fences::choice fencing = smr::fences::choice::as_the_kernel_allows;
  };

  using seat = epoch_clock::seat;

  struct turn {
    explicit turn(const epoch_core& core) noexcept : until_check(core.options_.operations_a_check) {}
    std::uint64_t announced = 0;
    std::uint64_t ripened = 0;  // the announcement at which bags were looked at last
    countdown until_check;
    unsigned waited = 0;      // operations in the epoch announced, as of the last look
    std::size_t bytes = 0;    // retired in it
    std::uint64_t swept = 0;  // the epoch for which the members before `next` have passed
    void* next = nullptr;     // a member
  };

  explicit epoch_core(const options& chosen) noexcept : fences(chosen.fencing), options_(chosen) {}

  template <class Member>
  [[gnu::always_inline]] void enter(Member& m) noexcept {
    m.turn.announced = clock_.enter(m.seat, fences);
  }
  template <class Member>
  [[gnu::always_inline]] void leave(Member& m) noexcept {
    clock_.leave(m.seat, m.turn.announced);
  }
  template <class Member>
  void renew(Member& m) noexcept {
    enter(m);
  }

  template <class Member>
  std::uint64_t tag(const Member& m) const noexcept {
    return m.turn.announced;
  }
  template <class Member>
  std::uint64_t ripe(const Member&) const noexcept {
    return clock_.now();
  }
  template <class Member>
  bool adoptable(const Member& m, std::uint64_t newest) const noexcept {
    return newest <= m.turn.announced;
  }

  template <class Member>
  [[gnu::always_inline]] bool due(Member& m) const noexcept {
    return m.turn.until_check.count() || m.turn.ripened != m.turn.announced;
  }

  template <class Member>
  [[gnu::always_inline]] bool full(Member& m, std::size_t bytes) const noexcept {
    m.turn.bytes += bytes;
    if (m.turn.bytes >= options_.bytes_an_epoch) over_bound(m);
    return false;
  }
  template <class Member>
  bool over_bound(Member& m) const noexcept {
    m.turn.until_check.set(1), m.turn.waited = options_.operations_an_epoch;
    return false;
  }

  template <class Members, class Member, class Free>
  void step(const Members& members, Member& m, Free&&) noexcept {
    const std::uint64_t e = m.turn.announced;
    if (m.turn.ripened != e) {
      m.turn.ripened = e;
      m.turn.waited = 0, m.turn.bytes = 0;
    }
    if (!m.turn.until_check.due()) return;
    // Without memory for more records it is each operation that looks: a bag freed gives room for another.
    const bool scarce = !m.bags.stock.reserve();
    m.turn.until_check.set(scarce ? 1 : options_.operations_a_check);
    if (__builtin_add_overflow(m.turn.waited, std::max(options_.operations_a_check, 1u), &m.turn.waited))
      m.turn.waited = ~0u;
    const bool in_time = m.turn.waited < options_.operations_an_epoch;
    if (m.turn.swept != e && in_time && !scarce && !clock_.fenced(e)) return;
    if (!clock_.before_sweep(e, fences)) return;
    if (Advance::all_at_once || m.turn.swept != e) m.turn.next = members.first();
    m.turn.swept = e;
    Member* at = static_cast<Member*>(m.turn.next);
    for (bool more = true; at != nullptr && more; at = at->next) {
      if (!has_passed(at->seat, e)) break;
      // A seat that nobody sits in costs no turn.
      more = Advance::all_at_once || at->gate.state() == seat_state::free;
    }
    m.turn.next = at;
    if (at == nullptr) advance(e);
  }

  template <class Members, class Member>
  void hurry(const Members& members, Member& m) noexcept {
    sweep(members, m.turn.announced);
  }
  template <class Members, class Member>
  void while_freeing(const Members&, Member&, unsigned) noexcept {}

  template <class Members>
  void synchronize(const Members& members) noexcept {
    // Who enters from here on sees what the caller unlinked; who does not has announced at most what now() says.
    while (!fences.heavy()) between_tries(fences);
    const std::uint64_t until = clock_.now() + 2;
    for (std::uint64_t e; (e = clock_.now()) < until;) {
      if (!sweep(members, e)) between_tries(fences);
    }
  }

  // Who is in the way stands at an earlier epoch, so that must have gone by. Two guards of one thread that announce the
  // same epoch are one stay.
  template <class Members>
  void press(const Members& members) noexcept {
    sweep(members, clock_.now());
  }
  template <class Member>
  std::uint64_t obstacle(const Member& m) const noexcept {
    return clock_.obstacle(m.seat, Advance::outside_counts);
  }

  std::uint64_t now() const noexcept { return clock_.now(); }

  smr::fences fences;

 private:
  static bool has_passed(const seat& s, std::uint64_t e) noexcept {
    return Advance::outside_counts ? epoch_clock::passed(s, e) : epoch_clock::announced(s, e);
  }

  // True: e is over. Whoever is outside has passed, in every scheme: who sweeps has a fence of its own.
  template <class Members>
  bool sweep(const Members& members, std::uint64_t e) noexcept {
    if (!clock_.before_sweep(e, fences)) return false;
    for (auto* m = members.first(); m != nullptr; m = m->next) {
      if (!epoch_clock::passed(m->seat, e)) return false;
    }
    advance(e);
    return true;
  }

  void advance(std::uint64_t e) noexcept {
    if (clock_.advance(e)) os::timeline::mark(os::timeline::kind::epoch_advance, std::uint32_t(e + 1));
  }

  epoch_clock clock_;
  const options options_;
};

template <class Advance>
using epoch = limbo_scheme<epoch_core<Advance>>;

using ebr = epoch<advance::scan_all>;
using debra = epoch<advance::scan_one>;
using qsbr = epoch<advance::quiescent>;

}  // namespace polder::smr
