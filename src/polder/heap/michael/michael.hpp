#pragma once
// michael — the sheets of Michael's allocator: the paper's, and those in which it says that one could do otherwise.
//
//   paper      Maged M. Michael, Scalable Lock-Free Dynamic Memory Allocation, PLDI 2004
#include <polder/heap/heap.hpp>
#include <polder/heap/michael/michael_front.hpp>

namespace polder::heap {

struct michael_sheet {
  static constexpr heap_info info{
      .name = "michael",
      .title = "Michael",
      .paper = "Michael, PLDI",
      .year = 2004,
      .summary =
          "Processor heaps that reserve blocks of an active superblock by credits and pop them by a tagged CAS; "
          "no locks, nothing of a thread's own: async-signal-safe and kill-tolerant.",
      .progress = "lock-free"};
  static constexpr auto& tunables = michael::tunables;
  using front = michael::michael_front<michael::partial_queue>;
};

// Partial superblocks last in, first out; empty ones are removed from the middle (section 3.2.6).
struct michael_lifo_sheet : michael_sheet {
  static constexpr heap_info info{.name = "michael-lifo",
                                  .title = "Michael, LIFO",
                                  .paper = "Michael, PLDI",
                                  .year = 2004,
                                  .summary = "Michael's with lists of partial superblocks last in, first out.",
                                  .progress = "lock-free",
                                  .sheet_of = "michael"};
  using front = michael::michael_front<michael::partial_stack>;
};

// Who loses the race for a new active superblock keeps his as a partial one (section 3.2.3, the alternative).
struct michael_keep_sheet : michael_sheet {
  static constexpr heap_info info{.name = "michael-keep",
                                  .title = "Michael, lost superblocks kept",
                                  .paper = "Michael, PLDI",
                                  .year = 2004,
                                  .summary = "Michael's, keeping as partial the new superblock that lost a race.",
                                  .progress = "lock-free",
                                  .sheet_of = "michael"};
  using front = michael::michael_front<michael::partial_queue, michael::lost_race::keeps_superblock>;
};

// One heap whatever the number of processors, and no look at who is calling (section 4.2.4).
struct michael_uniprocessor_sheet : michael_sheet {
  static constexpr heap_info info{
      .name = "michael-uniprocessor",
      .title = "Michael, one heap",
      .paper = "Michael, PLDI",
      .year = 2004,
      .summary = "Michael's with one processor heap, as it chooses itself on one processor.",
      .progress = "lock-free",
      .sheet_of = "michael"};
  using front =
      michael::michael_front<michael::partial_queue, michael::lost_race::frees_superblock, michael::heaps::one>;
};

template <class Host>
using michael_heap = heap<michael_sheet, Host>;
template <class Host>
using michael_lifo = heap<michael_lifo_sheet, Host>;
template <class Host>
using michael_keep = heap<michael_keep_sheet, Host>;
template <class Host>
using michael_uniprocessor = heap<michael_uniprocessor_sheet, Host>;

}  // namespace polder::heap
