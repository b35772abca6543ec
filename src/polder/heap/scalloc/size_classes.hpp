#pragma once
// size_classes — which block a size gets, and how a real span of each class is cut.
//
//   paper      Aigner et al. 2015, sec. 3.1: sixteen classes by 16 bytes to 256, then powers of two to 1 MiB
//   invariant  a block lies at a multiple of its size from the span's beginning, so alignment to a power of two is had
//              from any class that is a multiple of it
//   deviation  the paper counts 29 classes, of which 28 hold blocks: class 0 is none, here too. It says 9 real-span sizes
//              and not which; these are ours. The smallest is 32 KiB, as in its section 7 (127 blocks of 256 bytes), not
//              16 as in its section 2
//
//       ┌────────┬───────┬───────┬── ── ──┬───────┐
//       │ header │ block │ block │        │ block │        real span; the rest of the virtual span is never touched
//       └────────┴───────┴───────┴── ── ──┴───────┘
//       0        first   first + size             real span size
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>

namespace polder::heap::scalloc {

inline constexpr std::size_t header_bytes = 192;  // three lines: heap/scalloc/span.hpp

struct series {
  static constexpr unsigned fine = 16;   // 16, 32 … 256 bytes
  static constexpr unsigned count = 28;  // and 512 bytes … 1 MiB
  static constexpr std::size_t fine_step = 16;
  static constexpr std::size_t largest_fine = fine * fine_step;
  static constexpr std::size_t largest = MiB;

  static constexpr unsigned of(std::size_t n) {
    if (n <= largest_fine) return n == 0 ? 1 : unsigned((n + fine_step - 1) / fine_step);
    if (n > largest) return 0;
    return fine + unsigned(std::bit_width((n - 1) / largest_fine));
  }
  static constexpr std::size_t size(unsigned c) { return c <= fine ? c * fine_step : largest_fine << (c - fine); }
};

struct size_classes : series {
  static constexpr auto block_size = [] {
    std::array<std::uint32_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = std::uint32_t(size(c));
    return t;
  }();
  static constexpr unsigned aligned(std::size_t n, std::size_t alignment) {
    if (n > largest || alignment > largest) return 0;
    for (unsigned c = of(n < alignment ? alignment : n); c <= count; ++c)
      if (size(c) % alignment == 0) return c;
    return 0;
  }
  // A block that shrinks by half or more moves, unless there is no smaller class.
  static constexpr bool keeps(unsigned c, std::size_t n) {
    return n <= block_size[c] && (n > block_size[c] / 2 || c == 1);
  }
};

// How the real spans are cut. All sizes are multiples of 4 KiB; neighbouring classes share one, so that reuse in the next
// class changes only the header.
struct real_span_series {
  static constexpr unsigned count = 9;
  static constexpr std::array<std::uint32_t, count> bytes = {
      32 * KiB, 64 * KiB, 128 * KiB, 256 * KiB, 512 * KiB, MiB, 5 * MiB / 4, 3 * MiB / 2, 2 * MiB};
  static constexpr std::uint32_t smallest = bytes[0];

  static constexpr auto index = [] {
    std::array<std::uint8_t, size_classes::count + 1> t{};
    constexpr std::uint8_t coarse[] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8};  // 512, 1 K, 2 K … 1 M
    for (unsigned c = 1; c <= size_classes::count; ++c) t[c] = c <= size_classes::fine ? 0 : coarse[c - 17];
    return t;
  }();
};

struct real_spans : real_span_series {
  static constexpr auto first = [] {
    std::array<std::uint32_t, size_classes::count + 1> t{};
    for (unsigned c = 1; c <= size_classes::count; ++c) {
      const auto size = std::uint32_t(size_classes::size(c));
      t[c] = (std::uint32_t(header_bytes) + size - 1) / size * size;
    }
    return t;
  }();
  static constexpr auto blocks = [] {
    std::array<std::uint32_t, size_classes::count + 1> t{};
    for (unsigned c = 1; c <= size_classes::count; ++c)
      t[c] = std::uint32_t((bytes[index[c]] - first[c]) / size_classes::size(c));
    return t;
  }();
  // Where the last block ends.
  static constexpr auto end = [] {
    std::array<std::uint32_t, size_classes::count + 1> t{};
    for (unsigned c = 1; c <= size_classes::count; ++c)
      t[c] = std::uint32_t(first[c] + blocks[c] * size_classes::size(c));
    return t;
  }();
};

// The spans of an arena, as its virtual spans allow: the table above, or, where virtual spans had to shrink below 2 MiB,
// as much as they hold for every class. A class of which no block fits has none.
class span_cuts {
 public:
  constexpr span_cuts() : span_cuts(real_spans::bytes[real_spans::count - 1]) {}
  constexpr explicit span_cuts(std::size_t virtual_span) {
    const bool whole = virtual_span >= real_spans::bytes[real_spans::count - 1];
    for (unsigned c = 1; c <= size_classes::count; ++c) {
      constexpr std::uint64_t one = std::uint64_t{1} << 32;
      const auto size = std::uint32_t(size_classes::size(c)), first = real_spans::first[c];
      real_[c] = whole ? real_spans::bytes[real_spans::index[c]] : std::uint32_t(virtual_span);
      blocks_[c] = real_[c] > first ? (real_[c] - first) / size : 0;
      tests_[c] = {first, blocks_[c] * size, std::uint32_t(one / size + (one % size != 0))};
    }
  }
  std::uint32_t real(unsigned c) const { return real_[c]; }
  std::uint32_t blocks(unsigned c) const { return blocks_[c]; }
  std::uint32_t end(unsigned c) const { return tests_[c].first + tests_[c].length; }

  // Whether a block of class c begins `offset` bytes into its span, of which the blocks up to `bumped` exist: by one
  // multiplication (mem/class_table.hpp has the argument for the fine classes; for a power of two the product is the
  // remainder, shifted).
  constexpr bool is_block(unsigned c, std::uint32_t offset, std::uint32_t bumped) const {
    const block_test& t = tests_[c];
    return offset - t.first < bumped - t.first && offset * t.multiplier < t.multiplier;
  }
  constexpr bool is_block(unsigned c, std::uint32_t offset) const {
    return is_block(c, offset, tests_[c].first + tests_[c].length);
  }

 private:
  struct block_test {
    std::uint32_t first = 0, length = 0, multiplier = 0;
  };
  std::array<block_test, size_classes::count + 1> tests_{};
  std::array<std::uint32_t, size_classes::count + 1> blocks_{}, real_{};
};

// Memory that can be had where every virtual span of an arena holds a real span of `real` bytes (sec. 3.2).
constexpr std::size_t capacity(std::size_t arena_bytes, std::size_t virtual_span, std::size_t real) {
  return arena_bytes / virtual_span * real;
}

}  // namespace polder::heap::scalloc
