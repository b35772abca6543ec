#pragma once
// lrmalloc — the heap of Leite and Rocha, and its variants, as sheets.
//
//   lrmalloc           page map as one flat array, caches flushed when a thread ends: what the paper measures
//   lrmalloc-radix     page map as a radix tree: what the paper weighs against it
//   lrmalloc-recycle   caches of ended threads wait, with their blocks, for the next ones: what the paper proposes
#include <polder/heap/heap.hpp>
#include <polder/heap/lrmalloc/lrmalloc_front.hpp>
#include <polder/heap/lrmalloc/page_array.hpp>
#include <polder/heap/lrmalloc/page_tree.hpp>

namespace polder::heap {

struct lrmalloc_sheet {
  static constexpr heap_info info{
      .name = "lrmalloc",
      .title = "LRMalloc",
      .paper = "Leite, Rocha: LRMalloc: a Modern and Competitive Lock-Free Dynamic Memory Allocator, VECPAR 2018",
      .year = 2018,
      .summary =
          "A stack of free blocks for each thread and class, over a lock-free heap of superblocks that gives and "
          "takes whole lists by one compare-and-swap, and a page map.",
      .progress = "lock-free",
  };
  static constexpr tunable tunables[] = {bytes("cache",
                                               "64K to 16M: bytes at which a thread's stack of one class is full",
                                               lrmalloc::superblock_size, 16 * MiB, lrmalloc::superblock_size)};
  using front = lrmalloc::lrmalloc_front<lrmalloc::page_array>;
};

struct lrmalloc_radix_sheet : lrmalloc_sheet {
  static constexpr heap_info info{
      .name = "lrmalloc-radix",
      .title = "LRMalloc, page map as a tree",
      .paper = lrmalloc_sheet::info.paper,
      .year = 2018,
      .summary = "LRMalloc with the page map that costs little address space: a lock-free radix tree.",
      .progress = "lock-free",
      .sheet_of = "lrmalloc",
  };
  using front = lrmalloc::lrmalloc_front<lrmalloc::page_tree>;
};

struct lrmalloc_recycle_sheet : lrmalloc_sheet {
  static constexpr heap_info info{
      .name = "lrmalloc-recycle",
      .title = "LRMalloc, caches recycled",
      .paper = lrmalloc_sheet::info.paper,
      .year = 2018,
      .summary =
          "LRMalloc with the improvement it names: a thread's cache is left, with its blocks, to the next thread.",
      .progress = "lock-free",
      .sheet_of = "lrmalloc",
  };
  using front = lrmalloc::lrmalloc_front<lrmalloc::page_array, lrmalloc::at_exit::recycle>;
};

template <class Host>
using lrmalloc_heap = heap<lrmalloc_sheet, Host>;
template <class Host>
using lrmalloc_radix = heap<lrmalloc_radix_sheet, Host>;
template <class Host>
using lrmalloc_recycle = heap<lrmalloc_recycle_sheet, Host>;

}  // namespace polder::heap
