#pragma once
// anchor — the one word of a superblock that says which of its blocks are free.
//
//   paper      Michael, PLDI 2004, figure 3 and section 3.2.2
//   progress   a value; the word that holds it is moved by CAS alone (superblock_heap.hpp)
//   in malloc  yes
//   deviation  the width of the tag is a parameter, so that the model checker can show what too few bits do
//
// States. An arrow is one CAS; in brackets, what the thread that made it owes next. `reserved` blocks are those promised
// to a thread, or to the `credits` of a heap's Active word, and not yet popped.
//
//    new superblock [install it in Active]                   update_active lost [return the credits,
//   ───────────────▶ active ─────────────────────────────────────┐               put into a Partial slot]
//                    │ ▲  ▲                                      │
//     pop with the   │ │  │ reserve, more than one               │
//     last credit,   │ │  │ [pop, install in Active]             ▼
//     count == 0     │ │  └──────────────────────────────── partial ──────────────┐
//                    │ │                                     │ ▲                  │ free, the last used block
//                    ▼ │ (never)          reserve, just one  │ │ free, the first  │ [give the superblock back; who
//                   full ◀───────────────────────────────────┘ │ [put into a      │  unlists the descriptor retires it]
//                      └───────────────────────────────────────┘  Partial slot]   ▼
//                                                                               empty
//
// Invariants. free blocks == count + reserved ones. full: count == 0. partial: count > 0, and the descriptor is in one
// slot or list, or held by the one thread that took it out or is about to put it in. empty: count is meaningless, the
// superblock is gone; the descriptor is where a partial one is.
#include <cstdint>

namespace polder::heap::michael {

enum class fill : std::uint8_t { active = 0, full = 1, partial = 2, empty = 3 };  // the paper's numbers

constexpr bool legal(fill from, fill to) {
  switch (from) {
    case fill::active: return to != fill::empty;
    case fill::full: return to == fill::full || to == fill::partial;
    case fill::partial: return true;
    case fill::empty: return false;
  }
  return false;
}

//  63              22 21 20 19       10 9         0
//  ┌─────────────────┬─────┬───────────┬───────────┐
//  │       tag       │state│   count   │   avail   │
//  └─────────────────┴─────┴───────────┴───────────┘
//   avail  index of the first free block
//   count  free blocks that nobody has reserved
//   tag    how often a block was popped: without it a pop could swing `avail` to a block that is not free (section 3.2.3)
template <unsigned TagBits = 42>
class anchor_word {
 public:
  static_assert(TagBits <= 42);
  static constexpr unsigned max_blocks = 1u << 10;

  constexpr anchor_word() = default;
  constexpr anchor_word(unsigned avail, unsigned count, fill state, std::uint64_t tag)
      : bits_{(tag & tag_mask) << 22 | std::uint64_t(state) << 20 | std::uint64_t(count & ten) << 10 |
              (avail & ten)} {}

  constexpr unsigned avail() const { return unsigned(bits_ & ten); }
  constexpr unsigned count() const { return unsigned(bits_ >> 10 & ten); }
  constexpr fill state() const { return fill(bits_ >> 20 & 3); }
  constexpr std::uint64_t tag() const { return bits_ >> 22; }

  constexpr anchor_word with(unsigned avail, unsigned count, fill state) const {
    return {avail, count, state, tag()};
  }
  constexpr anchor_word popped(unsigned next, unsigned count, fill state) const {
    return {next, count, state, tag() + 1};
  }
  friend constexpr bool operator==(const anchor_word&, const anchor_word&) = default;

 private:
  static constexpr std::uint64_t ten = (1u << 10) - 1;
  static constexpr std::uint64_t tag_mask = (std::uint64_t{1} << TagBits) - 1;
  std::uint64_t bits_ = 0;
};

static_assert(sizeof(anchor_word<>) == 8);

}  // namespace polder::heap::michael
