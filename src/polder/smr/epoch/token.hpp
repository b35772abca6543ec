#pragma once
// token — token EBR in the thesis's four steps, which differ in when the token is passed and in how bags are freed.
//
//   paper      Kim (thesis), 3.4. A bag is filled between two arrivals of the token, old until the next one, and then
//              safe: whoever could hold what is in it has begun another operation since
//   progress   see info
//   in malloc  no
//   deviation  a thread that is outside any guard is passed over by the others, and the token is looked for in every
//              16th operation, not in each. Bags know the number of arrivals, so there is no swap
//
//   naive        free the old bag, then pass the token                 everybody waits for one who frees
//   pass_first   pass the token, then free                             waits only for who gets it again while freeing
//   periodic     the same, and look for the token every 100 frees      waits for nobody
//   amortized    periodic, and one object an operation is freed
#include <cstdint>

#include <polder/os/timeline.hpp>
#include <polder/smr/countdown.hpp>
#include <polder/smr/epoch/token_ring.hpp>
#include <polder/smr/fences.hpp>
#include <polder/smr/guard.hpp>
#include <polder/smr/limbo.hpp>
#include <polder/smr/presence.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

namespace passing {

constexpr scheme_info token_info(std::string_view name, std::string_view title) {
  return {
      .name = name,
      .title = title,
      .paper = "Kim, thesis, section 3.4; the token is Tam's, 2006",
      .year = 2023,
      .protects = protection::region,
      .readers = "wait-free",
      .retirers = "wait-free, but for the allocator's part",
      .bounded = false,
      .bound = "none while a thread stays inside a guard; else what all threads retire in two rounds of the token",
      .stall =
          "a thread that stalls inside a guard stops all reclamation after it until it goes on; one that idles "
          "outside "
          "is passed over",
      .words_per_object = 0,
  };
}

struct naive {
  static constexpr scheme_info info = token_info("token-naive", "token EBR: free, then pass the token");
  static constexpr bool frees_first = true;
  static constexpr unsigned look_every = 0;
  static constexpr drain_policy usual_drain{};
};

struct pass_first {
  static constexpr scheme_info info = token_info("token-pass-first", "token EBR: pass the token, then free");
  static constexpr bool frees_first = false;
  static constexpr unsigned look_every = 0;
  static constexpr drain_policy usual_drain{};
};

struct periodic {
  static constexpr scheme_info info =
      token_info("token-periodic", "token EBR: pass on, and look for it while freeing");
  static constexpr bool frees_first = false;
  static constexpr unsigned look_every = 100;  // frees
  static constexpr drain_policy usual_drain{};
};

struct amortized {
  static constexpr scheme_info info = token_info("token", "token EBR with amortized freeing");
  static constexpr bool frees_first = false;
  static constexpr unsigned look_every = 100;
  static constexpr drain_policy usual_drain{.how = drain_policy::way::amortized};
};

}  // namespace passing

template <class Passing>
class token_core : public grace_periods<token_core<Passing>, 2>, public obstacles_inside {
 public:
  static constexpr scheme_info info = Passing::info;
  static constexpr drain_policy usual_drain = Passing::usual_drain;

  struct options {
    unsigned operations_a_look = 16;  // guards that a thread opens between two looks for the token; the thesis: 1
    unsigned patience = 4;  // looks without the token, with the last of which its holder is looked at; 0: as 1
    smr::fences::choice fencing = smr::fences::choice::as_the_kernel_allows;
  };

  using seat = token_ring::seat;

  struct turn {
    explicit turn(const token_core& core) noexcept
        : mine(core.ring_.join()), until_look(core.options_.operations_a_look), patience(core.options_.patience) {}
    const token_ring::place mine;
    std::uint64_t arrivals = 1;  // of the token, here, and passed on by this thread
    bool has_it = false;         // the token is here: one more, if this thread passes it on
    countdown until_look;
    countdown patience;  // looks
  };

  explicit token_core(const options& chosen) noexcept : fences(chosen.fencing), options_(chosen) {}

  template <class Member>
  [[gnu::always_inline]] void enter(Member& m) noexcept {
    m.seat.enter(fences);
  }
  template <class Member>
  [[gnu::always_inline]] void leave(Member& m) noexcept {
    m.seat.leave();
  }
  template <class Member>
  void renew(Member&) noexcept {}

  template <class Member>
  std::uint64_t tag(const Member& m) const noexcept {
    return m.turn.arrivals;
  }
  template <class Member>
  std::uint64_t ripe(const Member& m) const noexcept {
    return m.turn.arrivals + m.turn.has_it;
  }
  template <class Member>
  bool adoptable(const Member&, std::uint64_t) const noexcept {
    return true;  // it all counts as retired now
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
  void step(const Members& members, Member& m, Free&& free) noexcept {
    m.turn.until_look.set(options_.operations_a_look);
    token_ring::sight seen = ring_.look();
    if (seen.holder() != m.turn.mine) {
      if (!m.turn.patience.count()) return;
      m.turn.patience.set(options_.patience);
      seen = past_who_is_outside(members, m);
      if (seen.holder() != m.turn.mine) return;
    }
    m.turn.patience.set(options_.patience);
    if constexpr (Passing::frees_first) {
      m.turn.has_it = true;
      free();
      m.turn.has_it = false;
    }
    // Lost: somebody saw this member outside, just before, and moved the token on; it will come again.
    if (ring_.pass(seen)) arrived(m);
  }

  template <class Members, class Member>
  void hurry(const Members& members, Member& m) noexcept {
    const token_ring::sight seen = past_who_is_outside(members, m);
    if (seen.holder() == m.turn.mine && ring_.pass(seen)) arrived(m);
  }

  template <class Members, class Member>
  void while_freeing(const Members&, Member& m, unsigned n) noexcept {
    if constexpr (Passing::look_every != 0) {
      if ((n + 1) % Passing::look_every != 0) return;
      const token_ring::sight seen = ring_.look();
      // Its arrival is not counted: the bags stay as they are while one is being freed.
      if (seen.holder() == m.turn.mine) ring_.pass(seen);
    }
  }

  template <class Members>
  void synchronize(const Members& members) noexcept {
    wait_for_guards(members, fences);
  }

  void after_fork() noexcept { no_more_to_come_below_ = ring_.joined(); }

  std::uint64_t rounds() const noexcept { return ring_.look().round(); }

  smr::fences fences;

 private:
  template <class Member>
  static void arrived(Member& m) noexcept {
    os::timeline::mark(os::timeline::kind::token_pass, std::uint32_t(++m.turn.arrivals));
  }

  template <class Members, class Member>
  token_ring::sight past_who_is_outside(const Members& members, const Member& m) noexcept {
    return ring_.past_who_is_outside(m.turn.mine, fences,
                                     [&members, gone_below = no_more_to_come_below_](token_ring::place holder) {
                                       const auto* const who = at(members, holder);
                                       return who != nullptr ? !who->seat.inside() : holder < gone_below;
                                     });
  }

  template <class Members>
  static auto at(const Members& members, token_ring::place where) noexcept -> decltype(members.first()) {
    for (auto* m = members.first(); m != nullptr; m = m->next) {
      if (m->turn.mine == where) return m;
    }
    return nullptr;  // it has its place, and is not in the list yet
  }

  mutable token_ring ring_;
  // In a fork's child: whoever had one of these places, and is not in the list, was on its way there and is gone.
  token_ring::place no_more_to_come_below_ = 0;
  const options options_;
};

template <class Passing>
using token_ebr = limbo_scheme<token_core<Passing>>;

using token_naive = token_ebr<passing::naive>;
using token_pass_first = token_ebr<passing::pass_first>;
using token_periodic = token_ebr<passing::periodic>;
using token = token_ebr<passing::amortized>;

}  // namespace polder::smr
