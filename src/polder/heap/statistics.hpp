#pragma once
// statistics — what a heap says about itself. Plain data; sizes in bytes.
//
//   invariant  allocated <= active <= resident <= mapped <= reserved
//              resident counts what the heap has not given back: the kernel's figure is lower where pages were never touched
#include <cstddef>
#include <cstdint>

namespace polder::heap {

struct statistics {
  std::size_t allocated = 0;  // in blocks that the program holds
  std::size_t active = 0;     // in spans and runs with at least one such block
  std::size_t resident = 0;   // active + free memory not yet returned to the system + metadata
  std::size_t mapped = 0;     // address space that can be read and written
  std::size_t reserved = 0;   // address space taken, accessible or not
  std::size_t metadata = 0;   // the heap's own tables
  std::size_t cached = 0;     // free and not yet returned to the system
  std::size_t large = 0;      // part of `active` in blocks larger than any size class
  std::size_t peak = 0;       // highest `resident` seen

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

}  // namespace polder::heap
