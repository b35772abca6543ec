#pragma once
// size_classes — SuperMalloc's sizes: fine small ones, prime numbers of cache lines, whole pages; and the folios they lie in.
//
//   paper      Kuszmaul 2015, as far as the thesis and the published description tell it; the numbers are our own
//   16 … 64    by 16
//   80 … 256   four to a doubling
//   … 16 KiB   per doubling: the power of two, and the primes nearest to 5/4, 3/2 and 7/4 of the one below, counted in
//              cache lines. Blocks side by side that are a power of two apart fall into few sets of a processor's cache
//              (their first lines have the same cache index); a prime number of lines apart they fall into all of them
//   … 1 MiB    four to a doubling, whole pages. From 1 MiB on, blocks are huge
//   waste      below 16 bytes a block up to 64; at most 1/5 up to 256 and above 16 KiB; between, less than 3/10
//   deviation  the paper's smallest sizes are 8, 10, 12, 14: the ABI wants 16 bytes of alignment. The power of two at each
//              doubling stays, so that aligned requests have a class
//
// A **folio** is a run of 4 KiB pages that holds whole blocks of one class: as few pages as waste at most 1/32 of it.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>

namespace polder::heap::supermalloc {

inline constexpr std::size_t folio_page = 4 * KiB;

constexpr bool is_prime(std::size_t n) {
  for (std::size_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

// The sizes, as the table above says.
struct size_series {
  unsigned count = 0;
  std::array<std::uint32_t, 80> size{};  // size[0] is none

  constexpr size_series() {
    for (std::size_t n = 16; n <= 64; n += 16) add(n);
    for (std::size_t lower = 64; lower < 256; lower *= 2) quarters_above(lower);
    for (std::size_t lower = 256; lower < 16 * KiB; lower *= 2) primes_above(lower);
    for (std::size_t lower = 16 * KiB; lower < MiB; lower *= 2) quarters_above(lower);
  }

 private:
  constexpr void add(std::size_t n) { size[++count] = std::uint32_t(n); }
  constexpr void quarters_above(std::size_t lower) {
    for (std::size_t quarter = 5; quarter <= 8; ++quarter) add(lower / 4 * quarter);
  }
  constexpr void primes_above(std::size_t lower) {
    const std::size_t lines = lower / cache_line;
    std::size_t last = lines;
    for (std::size_t quarter = 5; quarter <= 7; ++quarter) {
      const std::size_t wanted = lines * quarter / 4;
      const auto distance = [wanted](std::size_t n) { return n < wanted ? wanted - n : n - wanted; };
      std::size_t nearest = 0;
      for (std::size_t n = last + 1; n < 2 * lines; ++n)
        if (is_prime(n) && (nearest == 0 || distance(n) < distance(nearest))) nearest = n;
      if (nearest == 0) continue;
      add(nearest * cache_line);
      last = nearest;
    }
    add(2 * lower);
  }
};

struct size_classes {
  static constexpr std::size_t largest = MiB;
  static constexpr std::size_t huge_from = MiB;        // a request of this many bytes is huge
  static constexpr std::size_t most_folio_pages = 16;  // of a class up to 64 KiB; above, a folio is one block

  static constexpr size_series made{};
  static constexpr unsigned count = made.count;

  static constexpr auto block_size = [] {
    std::array<std::uint32_t, count + 1> t{};
    for (unsigned c = 0; c <= count; ++c) t[c] = made.size[c];
    return t;
  }();

  static constexpr auto folio_pages = [] {
    std::array<std::uint16_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) {
      const std::size_t size = made.size[c];
      const std::size_t least = (size + folio_page - 1) / folio_page;
      std::size_t best = least;
      const auto waste = [size](std::size_t pages) { return pages * folio_page % size; };
      for (std::size_t pages = least; pages <= most_folio_pages; ++pages) {
        if (waste(pages) * best < waste(best) * pages) best = pages;
        if (waste(best) * 32 <= best * folio_page) break;
      }
      t[c] = std::uint16_t(best);
    }
    return t;
  }();

  static constexpr std::size_t folio_bytes(unsigned c) { return folio_pages[c] * folio_page; }
  static constexpr unsigned blocks_per_folio(unsigned c) { return unsigned(folio_bytes(c) / block_size[c]); }

  // The smallest class that holds n bytes; 0: they make a huge block.
  static constexpr unsigned of(std::size_t n) {
    if (n <= direct_most) return direct[(n + 15) / 16];
    if (n >= huge_from) return 0;
    unsigned c = first_above[floor_log2(n - 1)];
    while (block_size[c] < n) ++c;  // at most four to a doubling
    return c;
  }

  // The same at a multiple of `alignment`, a power of two. A folio begins at a multiple of its bytes, or of a page, from
  // an address that is aligned to a slice, and those of classes above a slice to a chunk.
  static constexpr unsigned aligned(std::size_t n, std::size_t alignment) {
    if (n >= huge_from || alignment > largest) return 0;
    const std::size_t at_least = n < alignment ? alignment : n;
    for (unsigned c = at_least >= huge_from ? count : of(at_least); c <= count; ++c)
      if (block_size[c] % alignment == 0 && folio_bytes(c) % alignment == 0) return c;
    return 0;
  }

  // Whether a block of class c stays where it is when its size becomes n: shrinking by less than half is not worth a
  // copy, and below the smallest class there is none to go to.
  static constexpr bool keeps(unsigned c, std::size_t n) {
    return n <= block_size[c] && (n > block_size[c] / 2 || c == 1);
  }

  // Whether the offset in a folio is that of a block: a multiple of its size, by one multiplication (Lemire, Kaser, Kurz
  // 2019; exact for all of 32 bits).
  static constexpr bool begins_a_block(unsigned c, std::uint32_t offset) {
    return offset * multiplier[c] <= multiplier[c] - 1;
  }

  // How many folios of class c fit before the offset, which is below 2 MiB.
  static constexpr std::uint32_t folio_at(unsigned c, std::uint32_t offset) {
    return std::uint32_t((offset / folio_page) * reciprocal[c] >> 32);
  }

 private:
  static constexpr std::size_t direct_most = KiB;

  static constexpr auto direct = [] {
    std::array<std::uint8_t, direct_most / 16 + 1> t{};
    unsigned c = 1;
    for (std::size_t i = 0; i < t.size(); ++i) {
      while (made.size[c] < i * 16) ++c;
      t[i] = std::uint8_t(c);
    }
    return t;
  }();
  // The first class above 2^i bytes.
  static constexpr auto first_above = [] {
    std::array<std::uint8_t, 20> t{};
    for (unsigned i = 4; i < t.size(); ++i) {
      unsigned c = 1;
      while (made.size[c] <= std::size_t{1} << i) ++c;
      t[i] = std::uint8_t(c);
    }
    return t;
  }();
  static constexpr auto multiplier = [] {
    std::array<std::uint64_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = ~std::uint64_t{0} / made.size[c] + 1;
    return t;
  }();
  static constexpr auto reciprocal = [] {
    std::array<std::uint64_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = ((std::uint64_t{1} << 32) + folio_pages[c] - 1) / folio_pages[c];
    return t;
  }();
};

}  // namespace polder::heap::supermalloc
