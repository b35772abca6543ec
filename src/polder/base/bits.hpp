#pragma once
// bits — powers of two and the positions of bits.
#include <bit>
#include <cstddef>
#include <cstdint>

namespace polder {

inline constexpr std::size_t KiB = std::size_t{1} << 10;
inline constexpr std::size_t MiB = std::size_t{1} << 20;
inline constexpr std::size_t GiB = std::size_t{1} << 30;
inline constexpr std::size_t TiB = std::size_t{1} << 40;

// Without popcount, which is a call where the processor is not known to have it.
constexpr bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

// What memalign makes of the alignment that it is asked for; 1 of one that it refuses.
constexpr std::size_t alignment_given(std::size_t asked) {
  return asked <= SIZE_MAX / 2 + 1 ? std::bit_ceil(asked) : 1;
}

// Index of the highest set bit; n > 0.
constexpr unsigned floor_log2(std::size_t n) { return unsigned(std::bit_width(n)) - 1; }

// `n` ones at the bottom; 0 <= n <= 64.
constexpr std::uint64_t low_ones(unsigned n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

// `n` ones beginning at bit `at`; at + n <= 64.
constexpr std::uint64_t ones(unsigned at, unsigned n) { return low_ones(n) << at; }

}  // namespace polder
