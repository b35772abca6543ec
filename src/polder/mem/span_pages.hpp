#pragma once
// span_pages — which pages of a span hold nothing but free blocks, and which blocks lie on given pages.
//
//   in malloc  yes: 512 bytes on the stack
//
// Pages of one span are the bits of a word, the lowest first. Where a page is as large as a grain there is one, and it is
// never wholly free while a block is out.
#include <bit>
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/mem/geometry.hpp>

namespace polder::mem {

class span_pages {
 public:
  // Of a span of blocks of `size` bytes each, none of which is free as yet; `page`: bytes, a power of two from 4096 to a grain.
  span_pages(std::uint32_t size, std::size_t page) noexcept
      : size_(size), shift_(unsigned(std::countr_zero(page))) {}

  std::uint32_t count() const { return unsigned(grain_size >> shift_); }

  // Pages that the block at `offset` touches.
  std::uint32_t of(std::uint32_t offset) const {
    const std::uint32_t first = offset >> shift_, last = (offset + size_ - 1) >> shift_;
    return (std::uint32_t{2} << last) - (std::uint32_t{1} << first);
  }

  // Blocks, by number, that touch a page: [first, last).
  struct range {
    std::uint32_t first, last;
  };
  range blocks_on(unsigned page) const {
    const std::uint32_t begin = page << shift_, end = begin + (std::uint32_t{1} << shift_);
    const std::uint32_t last = (end + size_ - 1) / size_, all = std::uint32_t(grain_size) / size_;
    return {begin / size_, last < all ? last : all};
  }

  void note_free(std::uint32_t number) { free_[number / 64] |= std::uint64_t{1} << number % 64; }
  void note_free_on(std::uint32_t pages) {
    for (; pages != 0; pages &= pages - 1) {
      const range r = blocks_on(unsigned(std::countr_zero(pages)));
      for (std::uint32_t n = r.first; n < r.last; ++n) note_free(n);
    }
  }
  bool is_free(std::uint32_t number) const { return (free_[number / 64] >> number % 64 & 1) != 0; }

  // Pages with blocks on them, all of which are free.
  std::uint32_t wholly_free() const {
    std::uint32_t pages = 0;
    for (unsigned p = 0; p != count(); ++p) {
      const range r = blocks_on(p);
      if (r.first >= r.last) break;
      std::uint32_t n = r.first;
      while (n != r.last && is_free(n)) ++n;
      if (n == r.last) pages |= std::uint32_t{1} << p;
    }
    return pages;
  }

 private:
  static constexpr std::size_t most_blocks = grain_size / min_alignment;

  std::uint32_t size_;
  unsigned shift_;
  std::uint64_t free_[most_blocks / 64] = {};
};

}  // namespace polder::mem
