#pragma once
// signposts — in the blocks of a list that another thread will walk: where blocks further on lie, so that its cache lines
// are asked for before the walk gets there.
//
// A list's links depend on each other, and a block that comes from another processor is in that one's cache: a walk by
// links alone waits for one line after another. Block i of a list says where blocks 2i + 1 and 2i + 2 are, or the next two of
// which no block before it could, so all lines of the list are on their way after a few steps.
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

// In those blocks of a list of at most `most` of which has_room says that they have room. Its lines are taken to be at hand. What
// follows a block without room is said by those before it, as far as it goes, and by those after it.
template <unsigned most, class HasRoom>
void put_up_signposts(block* first, HasRoom has_room) noexcept {
  block* all[most + 2];
  unsigned n = 0;
  for (block* b = first; b != nullptr && n != most; b = b->link) all[n++] = b;
  all[n] = all[n + 1] = nullptr;
  unsigned said = 1;  // up to there
  for (unsigned i = 0; i != n; ++i) {
    if (!has_room(all[i])) continue;
    if (said <= i) said = i + 1;
    __builtin_memcpy(static_cast<posted_block*>(all[i])->further, all + said, sizeof posted_block::further);
    said = said + 2 < n ? said + 2 : n;
  }
}

// The walker has come to b, which has room. Those that it says lie elsewhere than in `bytes` from `base` on are left.
POLDER_ALWAYS_INLINE void follow_signposts(const block* b, const std::byte* base, std::size_t bytes) noexcept {
  for (const block* const next : static_cast<const posted_block*>(b)->further) {
    if (address(next) - address(base) < bytes) __builtin_prefetch(next, 1);
  }
}

}  // namespace polder::mem
