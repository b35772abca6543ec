#pragma once
// geometry — how LRMalloc cuts its memory: superblocks of blocks of one class.
//
//   paper      Leite & Rocha 2018, sec. 3.1 and 3.2; it does not tell the size of a superblock
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/mem/class_table.hpp>
#include <polder/mem/geometry.hpp>
#include <polder/mem/size_class/geometric4.hpp>

namespace polder::heap::lrmalloc {

// A superblock is as long as the library's grains and aligned to its length, so that a block tells where its superblock
// begins, and the tables of mem/class_table.hpp hold.
inline constexpr std::size_t superblock_size = mem::grain_size;

inline std::byte* superblock_of(const void* p) { return at_address(align_down(address(p), superblock_size)); }
inline std::uint32_t offset_in_superblock(const void* p) {
  return std::uint32_t(address(p) & (superblock_size - 1));
}

// The page map's pages, whatever the system's are.
inline constexpr unsigned page_shift = 12;
inline constexpr std::size_t map_page = std::size_t{1} << page_shift;
inline constexpr std::size_t pages_per_superblock = superblock_size / map_page;

struct size_classes : mem::class_table<mem::size_class::geometric4> {
  using series = mem::size_class::geometric4;

  static constexpr std::size_t granule = 16;
  static constexpr auto class_of = [] {
    std::array<std::uint8_t, series::largest / granule + 1> t{};
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = std::uint8_t(series::of(i * granule));
    return t;
  }();
  static constexpr unsigned of(std::size_t n) {
    return n <= series::largest ? class_of[(n + granule - 1) / granule] : 0;
  }

  // Blocks of a superblock.
  static constexpr auto capacity = [] {
    std::array<std::uint32_t, count + 1> t{};
    for (unsigned c = 1; c <= count; ++c) t[c] = usable_bytes[c] / block_size[c];
    return t;
  }();
  // Number of the block that begins at `offset`, a multiple of the class's block size: exact, as offset < 2^16.
  static constexpr std::uint32_t index_of(unsigned c, std::uint32_t offset) {
    return std::uint32_t(std::uint64_t{offset} * multiplier[c] >> 32);
  }
};

}  // namespace polder::heap::lrmalloc
