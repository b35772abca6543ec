#pragma once
// guarded_slot — whose the page of a guarded block is: nobody's, its user's, or that of who makes or gives the block.
//
//   progress   wait-free
//   in malloc  yes; async-signal-safe
//   invariant  between a step that begins and the one that ends it, page and words are that thread's alone
//
// States. An arrow is one CAS or store.
//
//              begin_making                  end_making
//        idle ──────────────▶ being made ────────────────▶ live
//         ▲ ▲    give_up          │                          │
//         │ └─────────────────────┘                          │ begin_giving
//         └────────────────── being given ◀──────────────────┘
//              end_giving
#include <cstddef>
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::mem {

class guarded_slot {
 public:
  [[nodiscard]] bool begin_making() noexcept {
    state was = state::idle;
    return now_.cas(was, state::being_made, order::acquire, order::relaxed);  // sync: guarded-idle
  }
  // There is no page to be had.
  void give_up() noexcept { now_.store(state::idle, order::release); }  // sync: guarded-idle

  void end_making(std::byte* block, std::uint32_t asked) noexcept {
    block_.store(block, order::relaxed);
    asked_.store(asked, order::relaxed);
    now_.store(state::live, order::release);  // sync: guarded-live
  }

  // Of two threads that free the same block, one is told that it may.
  [[nodiscard]] bool begin_giving() noexcept {
    state was = state::live;
    return now_.cas(was, state::being_given, order::acquire, order::relaxed);  // sync: guarded-live
  }
  // The page is out of reach.
  void end_giving() noexcept { now_.store(state::idle, order::release); }  // sync: guarded-idle

  // Whether block() and asked() are of a live block: to who has it. To others a hint.
  bool is_live() const noexcept { return now_.load(order::acquire) == state::live; }  // sync: guarded-live

  // Of the block that was there last; null: never taken.
  std::byte* block() const noexcept { return block_.load(order::relaxed); }
  std::uint32_t asked() const noexcept { return asked_.load(order::relaxed); }  // bytes

 private:
  enum class state : std::uint32_t { idle, being_made, live, being_given };

  // now_ — see the drawing.
  //   written by  the thread named on the arrow
  //   order       guarded-live: who made the block releases; who gives or looks at it acquires
  //               guarded-idle: who gave it releases when its page is out of reach; the next maker acquires
  //   ABA         harmless: a slot that is idle again is as good as it was
  atomic<state> now_;
  // asked_, block_ — written by who makes; read by who gives or has the block, after now_, and for messages by anybody.
  atomic<std::uint32_t> asked_;
  atomic<std::byte*> block_;
};

}  // namespace polder::mem
