#pragma once
// stepped — size classes in steps of 16 bytes, then eight to a doubling, then four.
//
//   16, 32 … 256 by 16; 288, 320 … 8 KiB in eighths of the power of two below; 10, 12, 14, 16, 20 … 32 KiB in quarters
//
//   waste      below 16 bytes a block up to 256; at most 1/9 up to 8 KiB; at most 1/5 above. Between 1 and 8 KiB lie
//              the pages of data bases and the buffers of streams, a power of two and a header: in quarters they would
//              lose a fifth. Above, a grain holds so few blocks that finer classes would only leave more of it over
//   alignment  every block size is a multiple of 16, and for every power of two up to 32 KiB there is a class of
//              exactly that size, so an aligned request of up to 32 KiB finds a class that is a multiple of it
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>

namespace polder::mem::size_class {

struct stepped {
  // Index of a class: 1 … count; 0 is not a class.
  static constexpr unsigned count = 16 + 8 * 5 + 4 * 2;
  static constexpr std::size_t largest = 32 * KiB;

  // For 0 < n <= largest, the smallest class that holds n bytes.
  static constexpr unsigned of(std::size_t n) {
    if (n <= 256) return n == 0 ? 1 : unsigned((n + 15) / 16);
    const unsigned doubling = floor_log2(n - 1);  // 2^doubling < n <= 2^(doubling+1)
    const unsigned steps = n <= 8 * KiB ? 3 : 2;  // log2 of the steps in a doubling
    const unsigned step = unsigned((n - 1) >> (doubling - steps)) - (1u << steps);
    return n <= 8 * KiB ? 17 + (doubling - 8) * 8 + step : 57 + (doubling - 13) * 4 + step;
  }

  // Bytes of a block of class c, 1 <= c <= count.
  static constexpr std::size_t size(unsigned c) {
    if (c <= 16) return std::size_t{c} * 16;
    const unsigned per_doubling = c <= 56 ? 8 : 4;
    const unsigned i = c <= 56 ? c - 17 : c - 57;
    const std::size_t base = (c <= 56 ? std::size_t{256} : 8 * KiB) << (i / per_doubling);
    return base + base / per_doubling * (i % per_doubling + 1);
  }
};

}  // namespace polder::mem::size_class
