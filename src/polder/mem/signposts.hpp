#pragma once
// signposts — in the blocks of a list that another thread will walk: where blocks further on lie, so that its cache lines
// are asked for before the walk gets there.
//
// A list's links depend on each other, and a block that comes from another processor is in that one's cache: a walk by
// links alone waits for one line after another. Block i of a list says where blocks 2i + 1 and 2i + 2 are, so all lines
// of the list are on their way after a few steps.
//
//   bytes 16..31   two signposts of a free block that has room for them; null: none
//
// They are hints: a walker may find anything there, and does nothing with it but ask for the line.
#include <cstddef>
#include <cstdint>

#include <polder/mem/block.hpp>

namespace polder::mem {

struct posted_block : block {
  static constexpr std::uint32_t least = 32;  // bytes a block has to have
  block* further[2];
};
static_assert(sizeof(posted_block) == posted_block::least);

// Of a list of at most `most` blocks, each of which has room. Its lines are taken to be at hand.
template <unsigned most>
void put_up_signposts(block* first) noexcept {
  block* all[most + 1];
  block** end = all;
  for (block* b = first; b != nullptr && end != all + most; b = b->link) *end++ = b;
  *end = nullptr;
  block** at = all;
  for (block* const* two = all + 1; two < end; two += 2)
    __builtin_memcpy(static_cast<posted_block*>(*at++)->further, two, sizeof posted_block::further);
  for (; at != end; ++at)
    __builtin_memset(static_cast<posted_block*>(*at)->further, 0, sizeof posted_block::further);
}

// The walker has come to b, which has room. Those that it says lie elsewhere than in `bytes` from `base` on are left.
POLDER_ALWAYS_INLINE void follow_signposts(const block* b, const std::byte* base, std::size_t bytes) noexcept {
  for (const block* const next : static_cast<const posted_block*>(b)->further) {
    if (address(next) - address(base) < bytes) __builtin_prefetch(next, 1);
  }
}

}  // namespace polder::mem
