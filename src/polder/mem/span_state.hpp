#pragma once
// span_state — the life of a span of small blocks.
//
//   paper      Aigner et al. 2015, figure 3, with one state less
//   progress   the word is not shared: only the LAB that owns the span moves it; free ↔ hot crosses the pool
//   in malloc  yes
//   deviation  scalloc's `floating` and `reusable` are two answers to "may the owner allocate from it?", which its
//               threads change from outside; here remote frees go to the owner's inbox and never touch the span, so
//               the owner alone decides, and `put into a set` cannot overtake `put into the pool` (listing 3 lets it)
//
// States. In brackets, what the owner owes at once.
//
//                  taken from the pool [write the owner word]
//        free ───────────────────────────────────────────────▶ hot ─────────────────────┐
//         ▲ ▲                                                  │ ▲                       │ its free list is empty
//         │ │   its last block freed, and it is not kept       │ │ chosen to allocate    │ [choose another]
//         │ └──────────────────────────────────────────────────┤ │ from [unlist it]      │
//         │     [clear the owner word, then give to the pool]  │ │                       ▼
//         │                                                    ▼ │    a block freed    full
//         └─────────────────────────────────────────────── partial ◀──────────────────────┘
//               its last block freed [unlist it;         put aside        [list it]
//                clear the owner word, then pool]        [list it]
//
// Invariants. hot, partial, full: free blocks + blocks held outside == capacity; hot and partial: on exactly one list
// of exactly one LAB; full: on none; free: in the pool or untouched, and no block of it is held by anybody.
#include <cstdint>

namespace polder::mem {

enum class span_state : std::uint8_t {
  free,     // in the pool, or never used; the value of zeroed memory
  hot,      // the one its owner allocates from
  partial,  // some blocks free; on its owner's list
  full,     // no block free; on no list, found again by the first free
};

constexpr bool legal(span_state from, span_state to) {
  switch (from) {
    case span_state::free: return to == span_state::hot;
    case span_state::hot: return to != span_state::hot;
    case span_state::partial: return to == span_state::hot || to == span_state::free;
    case span_state::full: return to == span_state::partial;
  }
  return false;
}

}  // namespace polder::mem
