#pragma once
// run_samples — whether runs of grains are touched all over, or mostly not: buffers that are larger than what comes, tables with
// few entries. A huge page brings all of itself in at the first touch, so the latter had better have small ones.
//
//   progress   wait-free
//   in malloc  yes; async-signal-safe
//
// In huge pages the kernel does not tell: all of each is there. But the first chunk of a heap has small ones, and so have those that
// are opened while runs are known to be sparse; before another is opened, the kernel is asked how much of each run in the latest is
// there. One of which nothing is there yet tells nothing, unless it was asked for as zeroes; and what was seen holds until there is
// something else to see. To look brings nothing in.
//
// The first chunk may not tell, for it went to small blocks; and a program may become sparse later. So it is looked, too, where nearly
// all runs in huge pages hold little but zeroes. Those may have been written: a chunk with small pages is tried, and if runs are dense
// there, nobody looks for zeroes again.
//
//            as seen                little but zeroes
//   sparse ◀─────────▶ dense ◀────────────────────────▶ trying
//     ▲                         as seen, or nothing is     │
//     └────────────────────────────────────────────────────┘  as seen
#include <cstdint>

#include <polder/mem/arena.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::mem {

class run_samples {
 public:
  // In the latest chunk that was looked at there was more in runs of which less than half is touched than in others, and enough.
  // So it is said while one is tried: it is to be filled.
  bool say_sparse() const noexcept { return belief_.load(order::relaxed) != belief::dense; }

  // Before a chunk is opened for runs that are worth huge pages if they are dense: looks, and says whether it shall have them.
  bool say_huge_next(const arena& a) noexcept;

 private:
  static constexpr chunk_number none = ~chunk_number{0};
  enum class belief : std::uint8_t { dense, trying, sparse };

  void look(const arena& a) noexcept;

  // Figures to decide by. At first, chunk 0 is to be looked at.
  atomic<chunk_number> latest_{0};
  atomic<belief> belief_{belief::dense};
  atomic<bool> zeroes_mean_nothing_{false};  // set when one is tried, cleared where that shows sparse runs
};

}  // namespace polder::mem
