#pragma once
// high_water — the most memory that a heap of parts has had at once.
//
//   progress   rise and note lock-free: one tries again only where another has raised the mark meanwhile; fall wait-free
//   in malloc  yes
//   invariant  highest() >= every sum that was noted; level == bytes risen - bytes fallen
//
// The front says what it takes of the system and what it gives back, the heap when huge blocks have grown; so the mark is
// looked at where memory is had, and nowhere else. A front's own tables are in it only once statistics have told of them.
#include <cstddef>

#include <polder/mem/huge_blocks.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap {

class high_water {
 public:
  // always: bytes that are there whatever happens.
  high_water(const mem::huge_blocks& huge, std::size_t always) noexcept : huge_(huge), always_(always) {}

  void rise(std::size_t bytes) noexcept { note_with(level_.fetch_add(bytes, order::relaxed) + bytes); }
  void fall(std::size_t bytes) noexcept { level_.fetch_sub(bytes, order::relaxed); }
  // From what it was to what it is, as somebody else counts it.
  void move(std::size_t from, std::size_t to) noexcept {
    if (to > from) rise(to - from);
    else if (to < from) fall(from - to);
  }

  // Huge blocks have grown.
  void note_huge() noexcept { note_with(level_.load(order::relaxed)); }
  // So much was told to be there.
  void note(std::size_t now) noexcept {
    std::size_t seen = highest_.load(order::relaxed);
    while (now > seen && !highest_.cas(seen, now, order::relaxed, order::relaxed)) {
    }
  }

  std::size_t highest() const noexcept { return highest_.load(order::relaxed); }

 private:
  void note_with(std::size_t level) noexcept { note(level + huge_.live_bytes() + huge_.cached_bytes() + always_); }

  const mem::huge_blocks& huge_;
  std::size_t always_;
  // level_, highest_ — bytes of the front's; of everything, the most that was seen.
  //   written by  who takes memory of the system or gives it back; who reads statistics, highest_ alone
  //   read by     the same
  //   order       relaxed: sums, and nothing is read through them
  //   ABA         level_ is added to; highest_ only grows
  atomic<std::size_t> level_{};
  atomic<std::size_t> highest_{};
};

}  // namespace polder::heap
