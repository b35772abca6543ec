#pragma once
// chunk — 2 MiB at a multiple of 2 MiB, cut into folios of one class; or cut into slices, each of one class.
//
//   paper      Kuszmaul 2015: a chunk holds one kind of blocks, so the chunk's number tells the class of any address
//   in malloc  yes
//   deviation  the first 512 KiB of a class come in slices of 64 KiB from chunks that classes share: a program that uses
//              forty classes a little would need forty chunks, 80 MiB of address space, and must start with 16
//
//     a chunk of one class                              a shared chunk
//    ┌────────┬────────┬────────┬── ─ ─ ┬─────┐        ┌────────────────┬────────────────┬── ─ ─ ─ ┐
//    │ folio 0│ folio 1│ folio 2│       │ over│        │ slice 0: f 0,1…│ slice 1: f 16… │         │
//    └────────┴────────┴────────┴── ─ ─ ┴─────┘        └────────────────┴────────────────┴── ─ ─ ─ ┘
//
// A **region** is what folios are counted through in: the chunk, or one slice of it. The record lies outside.
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/heap/supermalloc/folio.hpp>
#include <polder/heap/supermalloc/size_classes.hpp>
#include <polder/heap/supermalloc/slice_classes.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap::supermalloc {

inline constexpr std::size_t chunk_bytes = 2 * MiB;
inline constexpr std::size_t slice_bytes = 64 * KiB;
inline constexpr unsigned slices_per_chunk = chunk_bytes / slice_bytes;
inline constexpr unsigned folios_per_chunk = chunk_bytes / folio_page;
inline constexpr unsigned folios_per_slice = slice_bytes / folio_page;

struct chunk {
  // Constant while the chunk map tells of it, which publishes them.
  std::byte* base;
  std::uint32_t number;
  std::uint32_t region_mask;  // chunk_bytes - 1, or slice_bytes - 1
  std::uint16_t home;         // node its memory lies on

  // Folios with used blocks. Under the lock of its pages; of a chunk of one class only.
  std::uint16_t busy;
  // Under the lock of the source.
  std::uint32_t next;         // among the numbers without memory, or among the shared chunks of its home
  std::uint32_t free_slices;  // a bit a slice

  slice_classes<slices_per_chunk> classes;

  // A bit a slice: its folios' records cannot be trusted (see pages::adrift).
  //   written by  the only thread of a child
  //   read by     who puts a block back
  //   order       relaxed: set before there is a second thread
  atomic<std::uint32_t> forsaken;

  folio folios[folios_per_chunk];

  bool shared() const { return region_mask != chunk_bytes - 1; }
  unsigned class_at(std::uint32_t offset) const { return classes.at(offset / slice_bytes); }
  folio_number number_of(unsigned place) const { return number * folios_per_chunk + place; }

  // Where folio `place` of class c begins.
  std::byte* address_of(unsigned place, unsigned c) const {
    if (!shared()) return base + place * size_classes::folio_bytes(c);
    return base + place / folios_per_slice * slice_bytes + place % folios_per_slice * size_classes::folio_bytes(c);
  }
};

// Where an address lies in a chunk.
struct block_place {
  unsigned folio;          // its place in the chunk
  std::uint32_t in_folio;  // bytes from its beginning
};

POLDER_ALWAYS_INLINE block_place place_of(const chunk& k, std::uint32_t offset, unsigned c) {
  const std::uint32_t in_region = offset & k.region_mask;
  const std::uint32_t nth = size_classes::folio_at(c, in_region);
  return {(offset - in_region) / unsigned(folio_page) + nth,
          in_region - nth * std::uint32_t(size_classes::folio_bytes(c))};
}

}  // namespace polder::heap::supermalloc
