#pragma once
// leaky — no reclamation: retire() keeps count, and nothing is freed while the program goes on.
//
//   paper      Kim (thesis), chapter 3: what a structure costs without reclamation
//   progress   see info
//   in malloc  no
//   deviation  the thesis's forgets what is retired. Here it is kept in bags, so that drain() and the end of the domain can
//              free it, and guards say that they are open, so that drain() knows when: a store on each side
//
// drain() is as for every other scheme: it collects what everybody retired, waits for every guard that is open then, and
// frees it all. It is the only thing that frees; a drain_policy has nothing to do before.
#include <cstdint>

#include <polder/smr/countdown.hpp>
#include <polder/smr/drain.hpp>
#include <polder/smr/fences.hpp>
#include <polder/smr/guard.hpp>
#include <polder/smr/limbo.hpp>
#include <polder/smr/presence.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

class leaky_core : public grace_periods<leaky_core, 0>, public obstacles_inside {
 public:
  static constexpr scheme_info info = {
      .name = "leaky",
      .title = "no reclamation: nothing is freed before drain()",
      .paper = "Kim, thesis, chapter 3: the baseline",
      .year = 2023,
      .protects = protection::region,
      .readers = "wait-free",
      .retirers = "wait-free, but for the allocator's part",
      .bounded = false,
      .bound =
          "none: drain() and the domain's end free, and nothing else does; without memory for the record of a "
          "retired object the process ends",
      .stall =
          "a thread that stalls inside a guard keeps drain() and synchronize() waiting; one that idles outside "
          "stops nobody",
      .words_per_object = 0,
  };
  static constexpr drain_policy usual_drain{};

  struct options {
    // How many guards a thread opens between two looks at the bound on its bytes.
    unsigned operations_a_look = 128;
    smr::fences::choice fencing = smr::fences::choice::as_the_kernel_allows;
  };

  using seat = presence;

  struct turn {
    explicit turn(const leaky_core& core) noexcept : until_look(core.options_.operations_a_look) {}
    countdown until_look;
  };

  explicit leaky_core(const options& chosen) noexcept : fences(chosen.fencing), options_(chosen) {}

  template <class Member>
  [[gnu::always_inline]] void enter(Member& m) noexcept {
    m.seat.enter();
    fences.light();
  }
  template <class Member>
  [[gnu::always_inline]] void leave(Member& m) noexcept {
    m.seat.leave();
  }
  template <class Member>
  void renew(Member&) noexcept {}

  // One tag for all that is retired, and never ripe.
  template <class Member>
  std::uint64_t tag(const Member&) const noexcept {
    return 1;
  }
  template <class Member>
  std::uint64_t ripe(const Member&) const noexcept {
    return 0;
  }
  template <class Member>
  bool adoptable(const Member&, std::uint64_t) const noexcept {
    return true;
  }

  template <class Member>
  [[gnu::always_inline]] bool due(Member& m) const noexcept {
    return m.turn.until_look.count();
  }
  template <class Member>
  bool over_bound(Member& m) const noexcept {
    m.turn.until_look.set(1);
    return false;
  }
  template <class Members, class Member, class Free>
  void step(const Members&, Member& m, Free&&) noexcept {
    m.turn.until_look.set(options_.operations_a_look);
  }
  template <class Members, class Member>
  void hurry(const Members&, Member&) noexcept {}
  template <class Members, class Member>
  void while_freeing(const Members&, Member&, unsigned) noexcept {}

  template <class Members>
  void synchronize(const Members& members) noexcept {
    wait_for_guards(members, fences);
  }

  smr::fences fences;

 private:
  const options options_;
};

using leaky = limbo_scheme<leaky_core>;

}  // namespace polder::smr
