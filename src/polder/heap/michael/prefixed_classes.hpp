#pragma once
// prefixed_classes — size classes of blocks that begin with a prefix of eight bytes, and how a superblock is cut into them.
//
//   paper      Michael, PLDI 2004, section 3.1: superblocks of 16 KB, eight bytes before each block. The series is not in
//              the paper; it is that of the house
//   deviation  classes above 1 KiB have superblocks of 64 KiB, above 8 KiB of 256 KiB: figure 3 has an sbsize in each class
//              for that, and one block a superblock would make it full and empty in one step
//
//   superblock   ┌─── lost ───┬p┬──── block 0 ────┬p┬──── block 1 ────┬p┬ …
//                             │ └ first user address: a multiple of the largest power of two in the block size
//                             └ prefix
//
// What eight bytes cost: a user's address is a multiple of 16, so prefixes lie at 8 below multiples of 16; a block of 16 n
// bytes serves 16 n - 8. A request of 16 bytes takes 32, as in glibc; of a power of two, one class more than without a
// prefix; and each superblock loses what lies before its first prefix: 8 bytes for most sizes, up to the block size (16 KiB
// at most) for powers of two, which in return serve aligned requests.
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/heap/michael/place.hpp>
#include <polder/mem/size_class/stepped.hpp>

namespace polder::heap::michael {

inline constexpr std::size_t prefix_bytes = 8;

struct prefixed_classes {
  using series = mem::size_class::stepped;
  static constexpr unsigned count = series::count;
  static constexpr std::size_t largest = series::largest - prefix_bytes;
  static constexpr std::size_t largest_alignment = place_bytes;

  static constexpr unsigned of(std::size_t n) { return n <= largest ? series::of(n + prefix_bytes) : 0; }

  struct cut {
    std::uint32_t size;        // of a block, prefix included
    std::uint32_t start;       // of the first user's address
    std::uint32_t capacity;    // blocks
    std::uint32_t bytes;       // of the superblock
    std::uint64_t reciprocal;  // ceil(2^40 / size)
  };
  static constexpr auto cuts = [] {
    std::array<cut, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) {
      const std::size_t size = series::size(c);
      const std::size_t bytes = size <= KiB ? place_bytes : size <= 8 * KiB ? 4 * place_bytes : 16 * place_bytes;
      const std::size_t power = size & -size;
      const std::size_t start = power < largest_alignment ? power : largest_alignment;
      t[c] = {std::uint32_t(size), std::uint32_t(start), std::uint32_t((bytes - start + prefix_bytes) / size),
              std::uint32_t(bytes), ((std::uint64_t{1} << 40) + size - 1) / size};
    }
    return t;
  }();
  static constexpr auto block_size = [] {  // what the user may use
    std::array<std::uint32_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = cuts[c].size - std::uint32_t(prefix_bytes);
    return t;
  }();

  // Which block begins at `offset` from the superblock's begin; capacity or more: none. Exact: offset * size < 2^40.
  static constexpr unsigned index(unsigned c, std::size_t offset) {
    const std::uint64_t from_first = offset - cuts[c].start;
    if (offset < cuts[c].start) return ~0u;
    const std::uint64_t i = from_first * cuts[c].reciprocal >> 40;
    return i * cuts[c].size == from_first ? unsigned(i) : ~0u;
  }
  static constexpr std::size_t offset(unsigned c, unsigned index) {
    return cuts[c].start + std::size_t{index} * cuts[c].size;
  }

  // Shrinking by less than half is not worth a copy, and below the smallest class there is none to go to.
  static constexpr bool keeps(unsigned c, std::size_t n) {
    return n <= block_size[c] && (n > block_size[c] / 2 || c == 1);
  }

  static constexpr unsigned aligned(std::size_t n, std::size_t alignment) {
    if (n > largest || alignment > largest_alignment) return 0;
    for (unsigned c = of(n < alignment / 2 ? alignment / 2 : n); c <= count; ++c)
      if (cuts[c].start % alignment == 0 && cuts[c].size % alignment == 0) return c;
    return 0;
  }
};

}  // namespace polder::heap::michael
