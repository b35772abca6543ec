#pragma once
// partial_list — the steps by which descriptors come to a class's list of partial superblocks, and go from it.
//
//   paper      Leite & Rocha 2018, listings 1.4 (lines 9 to 23) and 1.5 (lines 18 to 36)
//   progress   lock-free
//   in malloc  yes: allocates nothing, locks nothing, async-signal-safe
//   deviation  a superblock that goes from full to empty in one flush was never listed: its descriptor is retired there.
//              The paper retires only what a fill unlists, so that one would be lost
//
// Invariant: a descriptor is in at most one list; each one in a partial list has an anchor that is partial or empty.
//
// Bound: a fill opens a new superblock only after it has unlisted everything of its class, and retires what it finds
// empty; so a class never has more descriptors than it had superblocks at once, besides those that other threads hold in
// the middle of a step. What a class retires serves every class.
//
// `at(n)` is descriptor n. `Watch::at(step)` stands between the steps: nothing but tests ever watch.
#include <cstdint>
#include <utility>

#include <polder/mem/anchor.hpp>
#include <polder/sync/index_stack.hpp>

namespace polder::heap::lrmalloc {

// The places between two steps of a fill or a flush. A thread that never goes on from there holds what the README's table
// says.
enum class step : std::uint8_t {
  unlisted,      // a descriptor was taken from the partial list
  taken,         // its blocks were taken
  found_empty,   // it had none to take, and is to be retired
  opening,       // a descriptor was had for a new superblock
  mapped,        // a superblock was had for it
  registered,    // its first page is in the page map
  grouped,       // blocks were chained for their superblock
  given,         // they were given back; the descriptor is to be listed
  emptied,       // they were given back, and were the last
  unregistered,  // the superblock is out of the page map
  released,      // its memory has gone back
};
inline constexpr unsigned steps = unsigned(step::released) + 1;

struct nobody_watches {
  static void at(step) noexcept {}
};

struct taken_blocks {
  std::uint32_t number = 0;  // of the descriptor; 0: no superblock is partial
  mem::anchor_word was;      // first block and how many
};

// Takes all free blocks of one partial superblock.
template <class Watch = nobody_watches, class At>
taken_blocks take_partial(index_stack& listed, index_stack& retired, std::uint32_t capacity, At&& at) noexcept {
  auto links = [&](std::uint32_t n) -> auto& { return at(n).next; };
  for (;;) {
    const std::uint32_t n = listed.pop(links);
    if (n == 0) return {};
    Watch::at(step::unlisted);
    const mem::anchor_word was = at(n).anchor.take_all(capacity);
    if (was.state() != mem::fill::empty) {
      Watch::at(step::taken);
      return {n, was};
    }
    Watch::at(step::found_empty);
    retired.push(n, links);
  }
}

// Gives `count` blocks of descriptor n's superblock back, chained from block `first`; link_tail as anchor::give has it.
// `empty_it` releases the superblock; it runs when these were its last blocks, and must know of the descriptor only what
// it knew before: by then that may be another superblock's.
template <class Watch = nobody_watches, class At, class LinkTail, class EmptyIt>
void give_blocks(index_stack& listed, index_stack& retired, std::uint32_t n, std::uint32_t first,
                 std::uint32_t count, std::uint32_t capacity, At&& at, LinkTail&& link_tail,
                 EmptyIt&& empty_it) noexcept {
  auto links = [&](std::uint32_t m) -> auto& { return at(m).next; };
  const auto [from, to] = at(n).anchor.give(first, count, capacity, link_tail);
  if (to == mem::fill::empty) {
    Watch::at(step::emptied);
    empty_it();
    if (from == mem::fill::full) retired.push(n, links);
  } else if (from == mem::fill::full) {
    Watch::at(step::given);
    listed.push(n, links);
  }
}

}  // namespace polder::heap::lrmalloc
