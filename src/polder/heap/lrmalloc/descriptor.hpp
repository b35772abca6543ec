#pragma once
// descriptor — LRMalloc's record of a superblock; never given back to the system, but used again for other superblocks.
//
//   paper      Leite & Rocha 2018, sec. 3.2, listing 1.3
//   deviation  block size and number of blocks follow from the class by a table, so they are not in it; nothing of it is
//              read after the CAS that empties a superblock
//
// Where one is. Each arrow is one successful CAS on a list, or on the anchor.
//
//        new ──▶ with who opens a superblock ──▶ in use, unlisted (full, or partial for the moment until it is listed)
//                      ▲                            │  │   ▲
//                      │                   listed   │  │   │ unlisted, by a fill
//                  retired ◀─ straight from full ───┘  ▼   │
//                      ▲                              partial list ──▶ emptied there: its superblock is gone
//                      └───────── unlisted, by a fill that finds it empty ──────┘
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/mem/anchor.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap::lrmalloc {

struct alignas(cache_line) descriptor {
  mem::anchor anchor;
  plain<std::byte*> superblock;  // written by who opens it; read by validate() and by who holds the number
  plain<std::uint32_t> cls;      // the same
  plain<std::uint32_t> number;   // in the table of descriptors; constant once it was in use
  atomic<std::uint32_t> next;  // link in the partial list, the retired ones, or the stuck superblocks: index_stack
};

#if !defined(POLDER_MODEL)
static_assert(sizeof(descriptor) == cache_line);
#endif

}  // namespace polder::heap::lrmalloc
