#pragma once
// class_table — a size-class series unrolled into tables that the fast paths index.
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/mem/geometry.hpp>

namespace polder::mem {

// Whether `offset` is a multiple of a block size, by one multiplication (Lemire, Kaser, Kurz 2019), and which: with m the
// next integer above 2^32 / size, m * size is 2^32 + e with 0 < e <= size, so modulo 2^32 the k-th multiple times m is k * e,
// at most 2^16 for offsets up to there; and whatever is no multiple comes to m at least, which is more for sizes below 2^16.
constexpr std::uint32_t divisibility_multiplier(std::size_t size) {
  return std::uint32_t((std::uint64_t{1} << 32) / size + 1);
}
constexpr bool divides(std::uint32_t multiplier, std::uint32_t offset) { return offset * multiplier < multiplier; }
// Whether it is one of the first multiples, of which `beyond` is the next: scaled(multiplier, offset) < scaled(…, beyond).
constexpr std::uint32_t scaled(std::uint32_t multiplier, std::uint32_t offset) { return offset * multiplier; }

template <class Classes>
struct class_table {
  static constexpr unsigned count = Classes::count;

  static constexpr auto block_size = [] {
    std::array<std::uint32_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = std::uint32_t(Classes::size(c));
    return t;
  }();
  static constexpr auto multiplier = [] {
    std::array<std::uint32_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = divisibility_multiplier(Classes::size(c));
    return t;
  }();
  // Bytes of a grain that hold whole blocks.
  static constexpr auto usable_bytes = [] {
    std::array<std::uint32_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = std::uint32_t(grain_size / Classes::size(c) * Classes::size(c));
    return t;
  }();

  // An offset in the grain is where one of them begins if, scaled, it is below that.
  static constexpr auto scaled_end = [] {
    std::array<std::uint32_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = scaled(multiplier[c], usable_bytes[c]);
    return t;
  }();

  // Whether a block of class c stays where it is when its size becomes n: shrinking by less than half is not worth a
  // copy, and below the smallest class there is none to go to.
  static constexpr bool keeps(unsigned c, std::size_t n) {
    return n <= block_size[c] && (n > block_size[c] / 2 || c == 1);
  }

  // The smallest class that holds n bytes at a multiple of `alignment` (a power of two), 0 if none does. Blocks lie at
  // multiples of their size from an address that is aligned to a grain.
  static constexpr unsigned aligned(std::size_t n, std::size_t alignment) {
    if (n > Classes::largest || alignment > Classes::largest) return 0;
    for (unsigned c = Classes::of(n < alignment ? alignment : n); c <= count; ++c)
      if (Classes::size(c) % alignment == 0) return c;
    return 0;
  }
};

}  // namespace polder::mem
