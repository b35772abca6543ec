#pragma once
// thread_cache — LRMalloc's cache of one thread: a stack of free blocks for each size class.
//
//   paper      Leite & Rocha 2018, sec. 3.1: GetCache, CacheIsEmpty, CacheIsFull, CachePopBlock, CachePushBlock
//   in malloc  yes; touched by its thread alone, without synchronization
//   invariant  every block in a bin is free, of the bin's class, and counted as used by its superblock's anchor;
//              blocks that were never handed out are `fresh` of one bin, or one marked block in one list (fresh_run.hpp)
#include <cstddef>
#include <cstdint>

#include <polder/heap/cache.hpp>
#include <polder/heap/lrmalloc/fresh_run.hpp>

namespace polder::heap::lrmalloc {

struct bin {
  mem::block* first = nullptr;  // the stack; the last link is null
  std::uint32_t count = 0;      // blocks in it; a run counts with all it stands for
  bool grows = false;           // a superblock was used up since the last flush: the next will be, too
  std::byte* fresh = nullptr;   // [fresh, its superblock's end of blocks) belongs to this bin; null: nothing
};

struct thread_cache : cache_header {
  bin bins[size_classes::count + 1];
};

}  // namespace polder::heap::lrmalloc
