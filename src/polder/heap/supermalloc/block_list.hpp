#pragma once
// block_list — free blocks of one class, chained; what moves between the levels of caches.
//
//   paper      Kim 2023 (thesis), sections 2.2.4 and 4.2.3
//   progress   all but split() a fixed number of steps. split() follows as many links as it gives away blocks: that is the
//              pointer chasing that 4.1 blames and 4.2.3 removes
//   in malloc  yes
//   invariant  count blocks hang between first and last, each with its key (mem/block.hpp); none: all three are zero
//
// Belongs to whoever may touch the cache it lies in: a thread, or the holder of a lock. A block whose key does not fit was
// written to while it was free: that is told when it is taken, or when its link is followed or replaced.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/base/config.hpp>
#include <polder/mem/block.hpp>
#include <polder/mem/misuse.hpp>

namespace polder::heap::supermalloc {

struct block_list {
  mem::block* first;
  mem::block* last;
  std::uint32_t count;

  bool empty() const { return count == 0; }

  POLDER_ALWAYS_INLINE void push(mem::block* b, mem::secret s) {
    b->set_link(first, s);
    if (count++ == 0) last = b;
    first = b;
  }

  // Of a list that is not empty.
  POLDER_ALWAYS_INLINE mem::block* pop(mem::secret s) {
    mem::block* const b = first;
    if (!b->looks_free(s)) [[unlikely]]
      mem::report(mem::misuse::corrupted, b);
    first = b->link;
    --count;  // `last` of an empty list is not looked at
    b->wipe();
    return b;
  }

  // Puts all of `other` before what is here, and leaves it empty.
  void join(block_list& other, mem::secret s) {
    if (other.empty()) return;
    if (!empty()) {
      if (!other.last->looks_free(s)) mem::report(mem::misuse::corrupted, other.last);
      other.last->set_link(first, s);
      other.last = last;
    }
    first = other.first;
    last = other.last;
    count += other.count;
    other = {};
  }

  // Takes the first n, 0 < n < count, away.
  block_list split(std::uint32_t n, mem::secret s) {
    POLDER_CHECK(1, n > 0 && n < count);
    mem::block* end = first;
    for (std::uint32_t i = 1;; ++i) {
      if (!end->looks_free(s)) mem::report(mem::misuse::corrupted, end);
      if (i == n) break;
      end = end->link;
    }
    const block_list front{first, end, n};
    first = end->link;
    count -= n;
    end->set_link(nullptr, s);
    return front;
  }

  // For tests and validation: whether the chain is as it says, and no two blocks are the same by a loop.
  bool whole(mem::secret s) const {
    if (empty()) return true;
    const mem::block* b = first;
    for (std::uint32_t i = 1; i < count; ++i) {
      if (b == nullptr || !b->looks_free(s)) return false;
      b = b->link;
    }
    return b == last && b->looks_free(s);
  }
};

}  // namespace polder::heap::supermalloc
