#pragma once
// span — the record of one grain that holds blocks of a class, or of the run that a large block begins.
//
//   paper      Aigner et al., OOPSLA 2015, sec. 3.1 and 5 (real spans); here the record lies outside the memory it
//              describes, and only its owner touches it
//   invariant  blocks_on(free) + used + blocks on returned pages + (usable - bumped) / block_size == capacity, where a hot span
//              that is to stay counts one more in `used`, so that its last free does not look like emptiness to the fast path
//
// A span's word in the span table (mem/word.hpp) says whose it is; this record is owner-only while it is owned.
#include <cstddef>
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/mem/block.hpp>
#include <polder/mem/geometry.hpp>
#include <polder/mem/span_state.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/glimpsed.hpp>

namespace polder::mem {

struct alignas(cache_line) span {
  glimpsed<block*> free;         // list of free blocks, last freed first; list_end() if there is none
  glimpsed<std::uint32_t> used;  // blocks outside; one more while hot and kept
  std::uint32_t multiplier;      // tells multiples of the block size (class_table)
  std::uint32_t bumped;          // offset of the first block never handed out; everything below is blocks
  std::uint32_t handed;          // the same, or of the first on a returned page, scaled: what free compares with
  std::uint32_t usable;          // offset past the last block
  std::uint32_t block_size;      // bytes
  std::uint8_t cls;              // size class
  std::uint8_t zero;             // beyond `bumped` the memory reads as zero
  std::uint8_t at_once;          // blocks, at least, that are threaded in one go
  glimpsed<span_state> state;    // moved by `become`
  grain next, prev;              // in that list
  grain next_owned, prev_owned;  // in the list of all spans of the LAB
  // sampled — blocks of it that are samples of the heap profile.
  //   written by  the owner, which adds; whoever frees such a block
  //   read by     the owner
  //   order       relaxed: a block's free comes after its sampling, and an owner that reads 0 knows that all are forgotten
  atomic<std::uint32_t> sampled;
  // sampled_places — a bit for each of 32 kinds of places at which such a block may lie (place_kind); some may be past.
  //   written by  the owner alone: set with a sample, cleared when `sampled` is 0
  //   read by     whoever frees a block of the span
  //   order       relaxed: who frees a sample has it from who drew it, after the bit was set
  atomic<std::uint32_t> sampled_places;

  // returned — a bit for each page of it that was given back to the system: all blocks on it are free, and on no list
  //   written by  the owner
  //   read by     whoever frees a block of the span
  //   order       relaxed: a live block lies on none, and who frees one has it from who was handed it, after the bit was cleared
  atomic<std::uint32_t> returned;

  static std::uint32_t place_kind(const void* block) noexcept {
    return std::uint32_t{1} << ((reinterpret_cast<std::uintptr_t>(block) >> 4) * 0x9e37'79b9u >> 27 & 31);
  }

  bool has_free() const { return free != list_end(); }
  // The same, or there are blocks that were never handed out, or whose page was given back.
  bool has_more() const { return has_free() || bumped < usable || returned.load(order::relaxed) != 0; }

  void become(span_state to) {
    POLDER_CHECK(1, legal(state, to));
    state = to;
  }
};

#if !defined(POLDER_MODEL)
static_assert(sizeof(span) == cache_line);
#endif

// The same line for a large block: a run of whole grains.
struct alignas(cache_line) large_run {
  glimpsed<std::uint32_t> grains;
  // 1: it was asked for so, and they were there: nobody need write to it before it is read. Any other: no, or a look that comes when a
  // span's record lies here by now.
  glimpsed<std::uint8_t> as_zeroes;
};

}  // namespace polder::mem
