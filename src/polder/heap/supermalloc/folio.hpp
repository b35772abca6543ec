#pragma once
// folio — the record of a folio, a run of pages that holds blocks of one class; and the states of its life.
//
//   paper      Kuszmaul 2015: fullest folio first. The thesis says "the page it was allocated from", and locks that page
//   in malloc  yes
//   invariant  used + blocks on `free` + (capacity - bumped / block size) == capacity, where a used block is one that lies
//              in some cache or is held by the program
//   deviation  the record lies outside the memory it describes, and the lock of its pages covers it: fullest-first lists
//              are the class's, so a lock a folio would not do alone
//
// States. Who holds the lock of its pages moves it; in brackets, what else changes.
//
//                     first block taken                     last free block taken
//          clean ─────────────────────────▶ partial ──────────────────────────────▶ full
//            ▲                                ▲  │ ◀──────────────────────────────────┘
//            │                     first block│  │last used block      a block comes back
//            │ discarded              taken   │  ▼ comes back
//            └───────────────────────────── empty
//              [nothing of it was ever bumped]
//
// A folio of one block goes from clean or empty to full and back without being partial.
//
//   clean    no memory is held for it, or nobody wrote to it; never used, or given back
//   partial  listed by how full it is
//   full     on no list
//   empty    no block is used, but its memory is held
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/mem/block.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap::supermalloc {

enum class folio_state : std::uint8_t { clean, partial, full, empty };

constexpr bool legal(folio_state from, folio_state to) {
  switch (from) {
    case folio_state::clean: return to == folio_state::partial || to == folio_state::full;
    case folio_state::partial: return to == folio_state::full || to == folio_state::empty;
    case folio_state::full: return to == folio_state::partial || to == folio_state::empty;
    case folio_state::empty: return to != folio_state::empty;
  }
  return false;
}

using folio_number = std::uint32_t;  // chunk number * folios a chunk + place; 0: none

struct folio {
  mem::block* free;         // blocks that came back, last first
  folio_number next, prev;  // in the list of its state
  std::uint16_t used;       // blocks outside
  folio_state state;        // moved by `become`

  // Bytes from its beginning that were handed out as blocks; a free() beyond them is of no block.
  //   written by  the holder of the lock
  //   read by     who frees, to check the address
  //   order       relaxed: who frees a block got it from somebody who saw it handed out, directly or not; whoever has no
  //                 such block reads anything, and is told of its mistake
  //   ABA         no decision but that one hangs on it
  atomic<std::uint32_t> bumped;

  void become(folio_state to) {
    POLDER_CHECK(1, legal(state, to));
    state = to;
  }
};

static_assert(sizeof(folio) == 24);

}  // namespace polder::heap::supermalloc
