#pragma once
// ring_capacity — how many elements a ring is made for: what is asked for, rounded up to a power of two.
#include <bit>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace polder::ds {

constexpr std::size_t usual_ring_capacity = 4096;

// Throws std::invalid_argument, in the name of the ring.
inline std::size_t ring_capacity(std::size_t asked, std::string_view ring) {
  constexpr std::size_t most = std::size_t{1} << 30;
  if (asked == 0) throw std::invalid_argument(std::string(ring) + ": the capacity must be at least 1");
  if (asked > most) {
    throw std::invalid_argument(std::string(ring) + ": the capacity must be at most 2^30, not " +
                                std::to_string(asked));
  }
  return std::bit_ceil(asked);
}

}  // namespace polder::ds
