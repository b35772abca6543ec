#pragma once
// statistics — what a heap says about itself. Plain data; sizes in bytes.
//
//   invariant  allocated <= active <= resident <= mapped <= reserved, also while threads work (settled)
//              resident counts what the heap has not given back: the kernel's figure is lower where pages were never touched
#include <cstddef>
#include <cstdint>  // PTRDIFF_MAX too

namespace polder::heap {

struct statistics {
  std::size_t allocated = 0;  // in blocks that the program holds
  std::size_t active = 0;     // in spans and runs with at least one such block, or one that waits
  std::size_t resident = 0;   // active + free memory not yet returned to the system + metadata
  std::size_t mapped = 0;     // address space that can be read and written
  std::size_t reserved = 0;   // address space taken, accessible or not
  std::size_t metadata = 0;   // the heap's own tables
  std::size_t cached = 0;     // free and not yet returned to the system
  std::size_t large = 0;      // part of `active` in blocks larger than any size class
  std::size_t peak = 0;       // highest `resident` seen

  // Part of `active` in blocks that were freed and are not back where they can be allocated: on their way between threads, or
  // held back. 0 where a heap has no such way, or counts them as allocated.
  std::size_t waiting = 0;
  std::size_t free_not_returned = 0;  // cached, and what of `active` is not allocated; filled in by settled()

  std::uint64_t threads = 0;       // threads that have a LAB now
  std::uint64_t labs = 0;          // LABs made so far
  std::uint64_t spans = 0;         // spans in use
  std::uint64_t refills = 0;       // times a thread went for a new span
  std::uint64_t remote_frees = 0;  // blocks freed by another thread than their owner
  std::uint64_t posts = 0;         // lists in which such blocks went home

  std::size_t committed =
      0;  // memory of the system's that counts against limit and target; 0: the heap does not count it
  std::size_t limit = 0;   // what `committed` may not exceed; 0: nothing
  std::size_t target = 0;  // above which nothing spare is kept; 0: there is none
};

// A snapshot that threads may have torn while it was taken, bounded by what must hold of it, and with what follows from the
// rest.
constexpr statistics settled(statistics s) {
  if (s.allocated > PTRDIFF_MAX) s.allocated = 0;  // a sum of differences: more came back than was seen to go out
  if (s.allocated > s.active) s.allocated = s.active;
  const std::size_t held = s.active + s.cached + s.metadata;
  if (s.resident < held) s.resident = held;
  if (s.mapped < s.resident) s.mapped = s.resident;
  if (s.reserved < s.mapped) s.reserved = s.mapped;
  if (s.peak < s.resident) s.peak = s.resident;
  s.free_not_returned = s.active - s.allocated + s.cached;
  return s;
}

// Where a heap has them (`Heap::size_classes`, `read_statistics(class_statistics*)`). A span's bytes are its blocks', live, waiting
// and free, and what is left over at its end.
struct class_statistics {
  std::size_t block_size = 0;
  std::uint64_t spans = 0;
  std::uint64_t allocated = 0;  // blocks that the program holds
  std::uint64_t waiting = 0;    // blocks, as above
  std::uint64_t free = 0;       // blocks, touched or not
  std::size_t active = 0;       // bytes of its spans
  std::size_t unallocated = 0;  // bytes of them that are in no block that the program holds; filled in by settled()
};

// What was held and what was out were not seen at the same moment.
constexpr class_statistics settled(class_statistics c) {
  const std::size_t allocated = c.allocated * c.block_size;
  c.unallocated = c.active > allocated ? c.active - allocated : 0;
  return c;
}

// Where a heap has them (`read_labs`). Over all LABs spans and bytes are those of the size classes; what waits counts as in use in
// the LAB whose span it is of.
struct lab_statistics {
  std::uint64_t number = 0;
  std::uint64_t thread = 0;  // as the kernel numbers it; 0: it has none, or none that is known
  std::uint64_t spans = 0;   // owned
  std::size_t used = 0;      // bytes of its spans in blocks that are out: allocated or waiting
  std::size_t free = 0;      // all other bytes of its spans
  std::size_t outbox = 0;    // bytes of other LABs' blocks, freed here, that wait to be sent
  std::size_t inbox = 0;     // bytes of its own, freed elsewhere, that wait to be put back
  std::uint64_t refills = 0, remote_frees = 0, posts = 0;  // as above
};

}  // namespace polder::heap
