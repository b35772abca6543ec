#pragma once
// thread_slot_model — parts/thread_slot.hpp in the world of the model checker: threads keep their numbers, which are few.
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

struct thread_slot {
  using number = std::uint32_t;
  static constexpr number none = 0, most = 255;

  static number mine() noexcept { return number(rl::ctx().current_thread() + 2); }  // the checker's may be -1
  static bool fleeting() noexcept { return false; }
  static void give_back() noexcept {}
};

}  // namespace polder::ds
