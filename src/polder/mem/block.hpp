#pragma once
// block — what a free block holds: a key and a link.
//
//   bytes 0..7    key    secret ^ link
//   bytes 8..15   link   next free block; null, or list_end() in a span's list, if there is none
//
// The key is there exactly while the block is free, and depends on the link, so
//   - a block whose key fits is being freed for the second time (a live block carries it with chance 2^-64:
//     allocation wipes it);
//   - a free block whose key does not fit was written to, whether the key or the link was hit. The key lies first
//     because overruns from below and writes through stale pointers to small objects come there first.
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/base/config.hpp>

namespace polder::mem {

using secret = std::uint64_t;

struct block {
  std::uint64_t key;
  block* link;

  POLDER_ALWAYS_INLINE std::uint64_t expected_key(const secret& s) const { return s ^ address(link); }
  POLDER_ALWAYS_INLINE bool looks_free(const secret& s) const { return next_by_key(s) == address(link); }
  // What the key says of the link: equal to it, of a free block.
  POLDER_ALWAYS_INLINE std::uint64_t next_by_key(const secret& s) const { return s ^ key; }
  POLDER_ALWAYS_INLINE void set_link(block* next, const secret& s) {
    link = next;
    key = expected_key(s);
  }
  POLDER_ALWAYS_INLINE void wipe() { key = 0; }
  // The same where nobody may have written yet: to look at such memory takes none of the system's.
  void wipe_if_written() {
    if (key != 0) wipe();
  }
};

static_assert(sizeof(block) == min_alignment);

// Where a list ends of which somebody takes the first block in few instructions: its key fits no secret but 0, which is none. So an
// empty list looks like one whose first block was written to, and one look tells either.
inline constexpr block no_block{};
inline block* list_end() { return const_cast<block*>(&no_block); }

}  // namespace polder::mem
