#pragma once
// random_draw — a number below n that no other thread can foresee cheaply: for spreading work, not for secrets.
//
//   paper      Marsaglia, "Xorshift RNGs", Journal of Statistical Software 2003
#include <cstddef>
#include <cstdint>

namespace polder::ds {

// n is below 2^32.
inline std::size_t random_draw(std::size_t n) noexcept {
  static thread_local std::uint64_t state = 0;
  // Threads' own addresses differ while they live.
  if (state == 0) state = (reinterpret_cast<std::uintptr_t>(&state) >> 4) * 0x9e37'79b9'7f4a'7c15 | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return std::size_t((state >> 32) * std::uint64_t{n} >> 32);
}

}  // namespace polder::ds
