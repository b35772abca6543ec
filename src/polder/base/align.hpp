#pragma once
// align — rounding of sizes and addresses to multiples of a power of two.
#include <cstddef>
#include <cstdint>

namespace polder {

constexpr std::size_t align_down(std::size_t n, std::size_t alignment) { return n & ~(alignment - 1); }

// Wraps to a small number when n is within `alignment` of SIZE_MAX: callers bound n first.
constexpr std::size_t align_up(std::size_t n, std::size_t alignment) {
  return (n + alignment - 1) & ~(alignment - 1);
}

constexpr bool is_aligned(std::size_t n, std::size_t alignment) { return (n & (alignment - 1)) == 0; }

inline std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

inline std::byte* at_address(std::uintptr_t a) { return reinterpret_cast<std::byte*>(a); }

}  // namespace polder
