#pragma once
// sampled_blocks — the live blocks that a heap profile has drawn: a hash table by address.
//
//   paper      two choices of a bucket: Azar, Broder, Karlin, Upfal, STOC 1994
//   progress   wait-free: two buckets, whatever happens
//   in malloc  yes; async-signal-safe
//   invariant  a block that was added, and not removed, stands in one slot of its two buckets; blocks do not move
//
// States of a slot. An arrow is one atomic step.
//
//               add, by CAS              add, by store
//      empty ─────────────────▶ claimed ───────────────▶ filled
//        ▲                                                 │ remove, by store
//        └─────────────────────────────────────────────────┘
//
// add() and remove() of the same block do not meet: it is added by who allocates it and removed by who frees it.
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::mem {

struct sampled_block {
  const void* block = nullptr;
  std::size_t bytes = 0;   // as asked for
  std::uint32_t site = 0;  // mem/call_sites.hpp
};

template <unsigned buckets, unsigned per_bucket>
class sampled_blocks {
  static_assert((buckets & (buckets - 1)) == 0);

 public:
  // False: both buckets are full, or look it to a thread that sees others late.
  [[nodiscard]] bool add(const sampled_block& b) noexcept {
    const places where{b.block};
    bucket* first = &table_[where.one];
    bucket* second = &table_[where.other];
    if (second->filled() < first->filled()) {
      bucket* const emptier = second;
      second = first;
      first = emptier;
    }
    return first->add(b) || second->add(b);
  }

  // True: it was there, and `was` says what.
  [[nodiscard]] bool remove(const void* block, sampled_block& was) noexcept {
    const places where{block};
    return table_[where.one].remove(block, was) || table_[where.other].remove(block, was);
  }

  // f(sampled_block) for each that is there. While others add and remove: one that is gone by then may be among them.
  template <class F>
  void for_each(F f) const noexcept {
    for (const bucket& of : table_)
      for (const slot& s : of.slots)
        if (const std::uintptr_t now = s.block.load(order::acquire); now > claimed)  // sync: sample-filled
          f(sampled_block{reinterpret_cast<const void*>(now), s.bytes.load(order::relaxed),
                          s.site.load(order::relaxed)});
  }

 private:
  static constexpr std::uintptr_t empty = 0, claimed = 1;

  struct slot {
    // block — see the drawing.
    //   written by  the thread named on the arrow
    //   read by     who looks for a place, or for a block; for_each
    //   order       sample-filled: who fills the slot releases what it wrote; for_each acquires. Who removes is told of the
    //                 block by its user, on a way that comes after the add
    //               sample-emptied: who removes releases, having read; the next claimer acquires, and writes
    //   ABA         harmless: a slot that is empty again is as good as it was
    atomic<std::uintptr_t> block;
    // bytes, site — of the block. Written between claimed and filled. Relaxed: a for_each may read them while the slot has
    // another block already, and then counts that one.
    atomic<std::size_t> bytes;
    atomic<std::uint32_t> site;
  };

  struct bucket {
    slot slots[per_bucket];

    unsigned filled() const noexcept {
      unsigned n = 0;
      for (const slot& s : slots) n += s.block.load(order::relaxed) != empty;
      return n;
    }

    bool add(const sampled_block& b) noexcept {
      for (slot& s : slots) {
        std::uintptr_t none = empty;
        if (s.block.load(order::relaxed) != empty) continue;
        if (!s.block.cas(none, claimed, order::acquire, order::relaxed)) continue;  // sync: sample-emptied
        s.bytes.store(b.bytes, order::relaxed);
        s.site.store(b.site, order::relaxed);
        s.block.store(address(b.block), order::release);  // sync: sample-filled
        return true;
      }
      return false;
    }

    bool remove(const void* block, sampled_block& was) noexcept {
      for (slot& s : slots) {
        if (s.block.load(order::relaxed) != address(block)) continue;
        was = {block, s.bytes.load(order::relaxed), s.site.load(order::relaxed)};
        s.block.store(empty, order::release);  // sync: sample-emptied
        return true;
      }
      return false;
    }
  };

  struct places {
    unsigned one, other;
    explicit places(const void* block) noexcept {
      const std::uint64_t mixed = (address(block) >> 4) * 0x9e37'79b9'7f4a'7c15;
      one = unsigned(mixed >> 48) & (buckets - 1);
      other = unsigned(mixed >> 24) & (buckets - 1);
    }
  };

  bucket table_[buckets];
};

}  // namespace polder::mem
