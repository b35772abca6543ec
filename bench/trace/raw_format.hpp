#pragma once
// raw_format — what libpolder-trace.so writes while a program runs: addresses in place of object numbers, one stream of
// records a thread, tickets that tell the order across threads. `polder-trace pack` makes a trace of it.
//
//   file    header page | chunk | chunk | ...       a file that ends early is good up to where it ends; an
//                           empty one is of a program for whose recording there was no room
//   chunk   used (of the bytes behind it) | records
//   record  op | ticket, since the last one | ns, since the last one | operands by op:
//             thread          number, ticket, ns: absolute; each chunk begins with one, a thread that takes over a
//                             chunk writes another
//             malloc, calloc  size, address
//             aligned calls   size, alignment, address
//             realloc         size, old address, address, tickets from the first to the second
//             free, usable    address
//   Numbers are varints; an address is the zigzag difference to the last one, 0 for a null pointer.
//
// **Order.** One counter for the whole process gives out the tickets, by a fetch_add an event: a call that makes a block
// draws its ticket after the block is there, a call that takes one back before it is gone, realloc draws both. So whoever
// is given a free block again draws later than the one who freed it, and the order of the tickets is one in which every
// object is made before it is used and no address is in use twice. Timestamps would cost no shared cache line, but two
// cores' clocks agree to no better than some tens of nanoseconds, less than the way of a block from one to the other.
//
// **Crash.** Chunks are shared mappings of the file, and `used` grows after its record is complete: a program that is
// killed leaves all but the record it was writing.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/event.hpp"

namespace polder::trace::raw {

inline constexpr char magic[8] = {'P', 'O', 'L', 'D', 'R', 'A', 'W', '1'};
inline constexpr std::size_t header_size = 4096;
inline constexpr std::size_t chunk_size = 64 << 10;

struct header {
  char magic[8];
  char program[64];         // base name
  std::uint32_t cut_short;  // not 0: there was no more room for chunks, and recording ended there
};
static_assert(sizeof(header) <= header_size);

struct chunk {
  std::atomic<std::uint32_t>
      used;  // written by the thread that has the chunk; release, so that records are before it
  std::uint32_t unused;
  std::uint8_t records[chunk_size - 8];
};
static_assert(sizeof(chunk) == chunk_size);

inline constexpr std::uint8_t op_thread = calls;  // below it, a call

}  // namespace polder::trace::raw
