#pragma once
// tending — whether the heap's own thread is there, and whether anybody has been at work since it began to look.
//
//   progress   wait-free, but for ask(), which is lock-free
//   in malloc  yes; in a signal handler: yes
//   invariant  of those that come one tends at a time; whoever asked while it did is looked after before it leaves
//
// States. An arrow is one CAS, exchange or store; `coming` may also be what a caller left that was killed.
//
//                 call                 come                ask
//     untended ──────────▶ coming ──────────▶ tended ──────────▶ asked
//        ▲ ▲  nobody_comes   │                 │  ▲     look       │
//        │ └─────────────────┘                 │  └────────────────┘
//        └─────────────────────────────────────┘
//                          leave
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::heap {

class tending {
 public:
  enum class state : std::uint32_t { untended, coming, tended, asked };

  // ---- by whoever was at work

  // What is now: asked, if there is who can be.
  state ask() noexcept {
    state now = state_.load(order::relaxed);
    while (now == state::tended)
      if (state_.cas(now, state::asked, order::release, order::relaxed)) return state::asked;  // sync: at-work
    return now;
  }
  // After ask() said that nobody tends. True: the caller starts who does, or says that nobody comes.
  [[nodiscard]] bool call(state seen) noexcept {
    return state_.cas(seen, state::coming, order::relaxed, order::relaxed);
  }
  void nobody_comes() noexcept {
    state seen = state::coming;
    state_.cas(seen, state::untended, order::relaxed, order::relaxed);
  }

  // ---- by who tends

  // False: two were started at once, and the other is there.
  [[nodiscard]] bool come() noexcept {
    state seen = state::coming;
    return state_.cas(seen, state::tended, order::relaxed, order::relaxed);
  }
  // True: somebody was at work since the last look, and what was done before it was asked is seen now.
  [[nodiscard]] bool look() noexcept {
    return state_.exchange(state::tended, order::acquire) == state::asked;  // sync: at-work
  }
  // False: it was asked meanwhile.
  [[nodiscard]] bool leave() noexcept {
    state seen = state::tended;
    return state_.cas(seen, state::untended, order::relaxed, order::relaxed);
  }
  // By who may not stay, and in a fork's child, where it is not.
  void leave_at_once() noexcept { state_.store(state::untended, order::relaxed); }

 private:
  // state_ — see the drawing.
  //   written by  who is at work, by CAS; who tends
  //   read by     the same
  //   order       at-work: it looks at what was done before it was asked. Who finds that it was asked writes nothing, and relies
  //               on what it did being seen by the time the look has come there
  //   ABA         harmless: whoever tends now is as good as who did before
  atomic<state> state_{state::untended};
};

}  // namespace polder::heap
