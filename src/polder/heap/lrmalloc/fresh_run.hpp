#pragma once
// fresh_run — the blocks of a superblock that were never handed out, as one link of a list of free blocks.
//
//   paper      none: Leite & Rocha 2018, listing 1.4, line 42, chains all blocks of a new superblock at once, which
//              touches all of it
//   in malloc  yes
//
// Blocks are threaded a page at a time. What is not threaded always reaches to the superblock's end, so its first block
// can stand for it: it is marked by its key, and lies in lists like any block. Who comes to it opens it.
#include <cstdint>

#include <polder/heap/lrmalloc/geometry.hpp>
#include <polder/mem/block.hpp>

namespace polder::heap::lrmalloc {

inline constexpr std::uint64_t run_mark = 0x52;  // in the key, over what a free block's would be

inline bool is_run(const mem::block* b, mem::secret s) { return b->key == (b->expected_key(s) ^ run_mark); }

// Writes the link of a free block, or of a run, and what it is with it.
inline void set_link(mem::block* b, mem::block* next, bool run, mem::secret s) {
  b->set_link(next, s);
  if (run) b->key ^= run_mark;
}

// Where the blocks of class c end in the superblock of `p`.
inline std::byte* end_of_blocks(const void* p, unsigned c) {
  return superblock_of(p) + size_classes::usable_bytes[c];
}

// How many blocks a run that begins at `first` stands for.
inline std::uint32_t run_length(const void* first, unsigned c) {
  return size_classes::capacity[c] - size_classes::index_of(c, offset_in_superblock(first));
}

}  // namespace polder::heap::lrmalloc
