#pragma once
// levels — the caches above a thread's own: of a processor, of a socket, and the global one, each for one class.
//
//   paper      Kim 2023, sections 2.2.4 and 4.2.1, figures 4.4 and 4.9 to 4.13
//   progress   blocking: each has a lock. Whoever holds one may take one further down this file, never one further up
//   in malloc  yes, never in a signal handler that interrupted a holder
//   invariant  no list is longer than its level's bound; in == out + lists that lie there, but for joined ones
//
//       thread             processor              socket                   global                    pages
//      ┌──┬──┐   list     ┌──┬──┐     list     ┌──┬── ─ ─ ┬──┐  half of  ┌──┬── ─ ─ ─ ─ ┬──┐  blocks  ┌───────┐
//      │  │  │ ◀────────▶ │  │  │ ◀──────────▶ │  │   P_S  │  │ ◀───────▶ │  │      n     │  │ ◀──────▶ │ folios│
//      └──┴──┘            └──┴──┘              └──┴── ─ ─ ┴──┘   them    └──┴── ─ ─ ─ ─ ┴──┘          └───────┘
//      no lock            a lock               a lock                     one lock for both, per class and home
//
// Lists are joined where they fit: by their ends, in a fixed number of steps.
#include <cstdint>

#include <polder/heap/supermalloc/block_list.hpp>
#include <polder/heap/supermalloc/pages.hpp>
#include <polder/os/futex.hpp>
#include <polder/sync/glimpsed.hpp>

namespace polder::heap::supermalloc {

// What a cache has seen. Under its lock.
struct traffic {
  glimpsed<std::uint64_t> locks;  // times its lock was taken for a block or a list
  std::uint64_t in;               // lists that came, from below or from above
  std::uint64_t out;              // lists that went
  std::uint64_t walked;           // blocks whose links were followed to split a list

  void operator+=(const traffic& t) {
    locks += t.locks;
    in += t.in;
    out += t.out;
    walked += t.walked;
  }
};

// Two lists of one processor.
struct alignas(cache_line) cpu_cache {
  owned_lock lock;
  block_list lists[2];
  traffic seen;

  bool empty() const { return lists[0].empty() && lists[1].empty(); }

  // Takes all of l if one list has room for it.
  bool accept(block_list& l, std::uint32_t bound, mem::secret s) {
    for (block_list& mine : lists) {
      if (mine.count + l.count > bound) continue;
      mine.join(l, s);
      return true;
    }
    return false;
  }

  block_list& fuller() { return lists[lists[1].count > lists[0].count]; }

  // Up to n blocks: a whole list, or the first n of one. It is not empty.
  block_list take(std::uint32_t n, mem::secret s) {
    block_list& from = lists[lists[0].empty()];
    if (from.count > n) {
      seen.walked += n;
      return from.split(n, s);
    }
    const block_list whole = from;
    from = {};
    return whole;
  }
};

// Several lists, the last one first.
struct shelf {
  block_list* lists;
  std::uint32_t count, capacity;

  bool empty() const { return count == 0; }
  bool full() const { return count == capacity; }
  void put(const block_list& l) {
    POLDER_CHECK(1, !full() && !l.empty());
    lists[count++] = l;
  }
  block_list take() { return lists[--count]; }

  bool accept(block_list& l, std::uint32_t bound, mem::secret s) {
    if (count != 0 && lists[count - 1].count + l.count <= bound) {
      lists[count - 1].join(l, s);
      return true;
    }
    if (full()) return false;
    put(l);
    l = {};
    return true;
  }
};

// P_S lists of one socket.
struct alignas(cache_line) socket_cache {
  owned_lock lock;
  supermalloc::shelf shelf;
  traffic seen;
};

// The global cache of a class and the pages under it: all of them, or those of one home.
struct alignas(cache_line) vault {
  owned_lock lock;
  supermalloc::shelf shelf;
  supermalloc::pages pages;
  traffic seen;
  std::uint64_t steps;  // times the shelf was filled from the pages
};

}  // namespace polder::heap::supermalloc
