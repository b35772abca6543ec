#pragma once
// anchor — the one word that says which blocks of a superblock are free.
//
//   paper      Leite & Rocha 2018, sec. 3.2, listings 1.3 to 1.5; after Michael, PLDI 2004
//   progress   lock-free: give() and take_all() retry only when another thread succeeded
//   in malloc  yes: allocates nothing, locks nothing, async-signal-safe
//
// States. An arrow is one successful CAS (open: a store, while nobody else knows the superblock); in brackets, what the
// thread that made it owes next.
//
//            open [every block is mine]         take_all [every block taken is mine]
//    empty ────────────────────────────▶ full ◀───────────────────────────────────────┐
//     ▲ ▲                                │  │                                         │
//     │ │   give, all blocks at once     │  │ give [list the descriptor as partial]   │
//     │ └────────────────────────────────┘  └──────────────────────────────▶ partial ─┘
//     │    [release the superblock; retire the descriptor: no list has it]   │ ▲  │
//     │                                                            more gives└─┘  │
//     └───────────────────────────────────────────────────────────────────────────┘
//          give, the last blocks [release the superblock; the descriptor is listed, or its lister is about to: whoever
//                                 unlists it finds it empty and retires it]
//
// Invariant, in every state: free blocks + blocks held outside == capacity. Blocks that were never handed out count as
// free.
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::mem {

enum class fill : std::uint8_t {
  empty,
  partial,
  full
};  // empty: no used block; full: no free one; the paper's numbers

constexpr bool legal(fill from, fill to) {
  switch (from) {
    case fill::empty: return to == fill::full;
    case fill::partial: return true;
    case fill::full: return to != fill::full;
  }
  return false;
}

class anchor_word {  //  63  62 61          31 30           0
 public:  //  ┌─────┬──────────────┬─────────────┐
          //  │state│    count     │    avail    │   avail: first free block; count: how many are free
          //  └─────┴──────────────┴─────────────┘
  constexpr anchor_word() = default;  // empty: what zeroed memory is
  constexpr anchor_word(fill s, std::uint32_t count, std::uint32_t avail)
      : bits_{std::uint64_t(s) << 62 | std::uint64_t{count} << 31 | avail} {}
  // What the paper writes where no block is free.
  static constexpr anchor_word full(std::uint32_t capacity) { return {fill::full, 0, capacity}; }

  constexpr fill state() const { return fill(bits_ >> 62); }
  constexpr std::uint32_t count() const { return std::uint32_t(bits_ >> 31) & most; }
  constexpr std::uint32_t avail() const { return std::uint32_t(bits_) & most; }

  static constexpr std::uint32_t most = 0x7fff'ffff;

  friend constexpr bool operator==(anchor_word, anchor_word) = default;

 private:
  std::uint64_t bits_ = 0;
};

class anchor {
 public:
  struct step {
    fill from, to;
  };

  anchor() noexcept = default;  // empty; constexpr in the native world
  anchor(const anchor&) = delete;
  anchor& operator=(const anchor&) = delete;

  // For a new superblock, every block of which is the caller's.
  void open(std::uint32_t capacity) noexcept {
    POLDER_CHECK(1, legal(word_.load(order::relaxed).state(), fill::full));
    word_.store(anchor_word::full(capacity), order::relaxed);  // others come to it through the page map
  }

  // Gives back a list of `n` blocks that begins at block `first`. `link_tail(next)` writes the block that was first so far
  // (capacity: none) into the list's last; it runs once per attempt. When the step's `to` is empty, the descriptor may
  // be another superblock's before this returns, unless the step began at full.
  template <class LinkTail>
  step give(std::uint32_t first, std::uint32_t n, std::uint32_t capacity, LinkTail&& link_tail) noexcept {
    POLDER_CHECK(1, first < capacity && n >= 1);
    anchor_word now = word_.load(order::relaxed);
    anchor_word next;
    do {
      link_tail(now.avail());  // not read through: who took it may have unmapped it
      const std::uint32_t count = now.count() + n;
      next = {count == capacity ? fill::empty : fill::partial, count, first};
      POLDER_CHECK(1, count <= capacity && legal(now.state(), next.state()));
    } while (!word_.cas(now, next, order::acq_rel, order::relaxed));  // sync: give-blocks, last-give, seen-empty
    return {now.state(), next.state()};
  }

  // Takes every free block. Only for who unlisted the descriptor. The word as it was: empty means that nothing was
  // taken, and that the descriptor is the caller's to retire.
  anchor_word take_all(std::uint32_t capacity) noexcept {
    anchor_word now = word_.load(order::acquire);  // sync: seen-empty
    while (now.state() != fill::empty) {
      POLDER_CHECK(1, now.state() == fill::partial);
      if (word_.cas(now, anchor_word::full(capacity), order::acquire,
                    order::acquire))  // sync: give-blocks, seen-empty
        return now;
    }
    return now;
  }

  // A hint, unless nobody else may change it.
  anchor_word seen() const noexcept { return word_.load(order::relaxed); }

 private:
  // word_ — state, length and head of the list of free blocks.
  //   written by  any thread giving blocks, and the one thread taking them, by CAS; who opens a superblock, plainly
  //   read by     the same
  //   order       give-blocks: a giver's release publishes the links inside its blocks; the taker's acquire makes them
  //                 readable before it walks the list
  //               last-give: the giver that enters `empty` acquires all earlier gives (one release sequence, all RMWs),
  //                 because it is about to unmap what those threads wrote
  //               seen-empty: all that givers read of the descriptor they read before their CAS; the taker's acquire of
  //                 the word `empty` lets it write there
  //   ABA         no tag: while a descriptor is unlisted, blocks are only given, which changes `avail`; and nobody reads
  //               through `avail` before the CAS succeeds. The same word with another list behind it needs blocks to be
  //               taken meanwhile, and the one who may is the one who compares
  atomic<anchor_word> word_;
};

}  // namespace polder::mem
