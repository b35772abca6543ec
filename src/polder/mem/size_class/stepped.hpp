#pragma once
// stepped — size classes in steps of 16 bytes, then eight, then four to a doubling.
//
//   16, 32 … 256 by 16; 288 … 512 by 32; 576 … 1024 by 64; then 1280, 1536, 1792, 2048 and so on to 32 KiB
//
//   waste      below 16 bytes a block up to 256; at most 1/9 up to 1 KiB; at most 1/5 above
//   alignment  every block size is a multiple of 16, and for every power of two up to 32 KiB there is a class of
//              exactly that size, so an aligned request of up to 32 KiB finds a class that is a multiple of it
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>

namespace polder::mem::size_class {

struct stepped {
  // Index of a class: 1 … count; 0 is not a class.
  static constexpr unsigned count = 16 + 8 + 8 + 4 * 5;
  static constexpr std::size_t largest = 32 * KiB;

  // For 0 < n <= largest, the smallest class that holds n bytes.
  static constexpr unsigned of(std::size_t n) {
    if (n <= 256) return n == 0 ? 1 : unsigned((n + 15) / 16);
    const unsigned doubling = floor_log2(n - 1);  // 2^doubling < n <= 2^(doubling+1)
    const unsigned steps = n <= 1024 ? 3 : 2;     // log2 of the steps in a doubling
    const unsigned step = unsigned((n - 1) >> (doubling - steps)) - (1u << steps);
    return n <= 1024 ? 17 + (doubling - 8) * 8 + step : 33 + (doubling - 10) * 4 + step;
  }

  // Bytes of a block of class c, 1 <= c <= count.
  static constexpr std::size_t size(unsigned c) {
    if (c <= 16) return std::size_t{c} * 16;
    const unsigned per_doubling = c <= 32 ? 8 : 4;
    const unsigned i = c <= 32 ? c - 17 : c - 33;
    const std::size_t base = std::size_t{c <= 32 ? 256u : 1024u} << (i / per_doubling);
    return base + base / per_doubling * (i % per_doubling + 1);
  }
};

}  // namespace polder::mem::size_class
