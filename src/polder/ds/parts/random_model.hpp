#pragma once
// random_model — parts/random.hpp in the world of the model checker, which tries each number there may be, or
// draws the last one always: that is one execution where there would be many.
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

struct random {
  static inline bool always_last = false;

  static std::uint32_t below(std::uint32_t n) noexcept { return always_last || n == 1 ? n - 1 : rl::rand(n); }
};

}  // namespace polder::ds
