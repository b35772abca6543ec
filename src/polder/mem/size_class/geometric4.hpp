#pragma once
// geometric4 — four size classes to a doubling: 2^X, 2^X + 1/4, 2^X + 1/2, 2^X + 3/4, up to 16 KiB.
//
//   paper      Leite & Rocha 2018, sec. 3.1; the series is jemalloc's
//
//   16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320 … 14336, 16384: 36 classes
//
//   waste      below 16 bytes up to 128; above, less than a quarter of what was asked for, as the paper says
//   alignment  what the series has that is no multiple of 16 is removed: 1 to 14, 20, 24, 28, 40, 56. So every block keeps
//              max_align_t's alignment; and every power of two from 16 on is a class
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>

namespace polder::mem::size_class {

struct geometric4 {
  // Index of a class: 1 … count; 0 is not a class.
  static constexpr unsigned count = 8 + 4 * 7;
  static constexpr std::size_t largest = 16 * KiB;

  // For n <= largest, the smallest class that holds n bytes.
  static constexpr unsigned of(std::size_t n) {
    if (n <= 128) return n == 0 ? 1 : unsigned((n + 15) / 16);
    const unsigned doubling = floor_log2(n - 1);  // 2^doubling < n <= 2^(doubling+1)
    return 9 + (doubling - 7) * 4 + unsigned((n - 1) >> (doubling - 2)) - 4;
  }

  // Bytes of a block of class c, 1 <= c <= count.
  static constexpr std::size_t size(unsigned c) {
    if (c <= 8) return std::size_t{c} * 16;
    const std::size_t base = std::size_t{128} << ((c - 9) / 4);
    return base + base / 4 * ((c - 9) % 4 + 1);
  }
};

}  // namespace polder::mem::size_class
