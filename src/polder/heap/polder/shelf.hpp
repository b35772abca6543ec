#pragma once
// shelf — the LAB's own blocks of the largest classes that were freed last, for its next mallocs.
//
//   paper      none: the free lists by class that thread caches have, for the few classes where a span holds few blocks
//   progress   wait-free, owner only
//   in malloc  yes
//   bound      max_blocks
//
// Two to twenty-eight such blocks lie in a span, so that nearly each free finds a full span, which becomes a partial one, and nearly each
// malloc a hot span without blocks. From here a malloc takes what was freed last, and its span has not noticed: it is full, and the
// block one that is on its way home (lab::home).
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/heap/polder/links.hpp>
#include <polder/mem/block.hpp>
#include <polder/mem/class_table.hpp>
#include <polder/mem/size_class/stepped.hpp>

namespace polder::heap {

class shelf {
 public:
  using classes = mem::class_table<mem::size_class::stepped>;
  static constexpr unsigned first_class = mem::size_class::stepped::of(2 * KiB + 1);
  static constexpr unsigned boards = classes::count + 1 - first_class;
  static constexpr std::uint32_t max_blocks = 24;

  static constexpr bool suits(unsigned c) { return c >= first_class && c <= classes::count; }
  bool has_room() const { return count_ != room_; }
  bool empty() const { return count_ == 0; }

  // All-zero memory is one without room.
  void give_it_room() { room_ = max_blocks; }

  // The block of class c that was put last; null: there is none.
  mem::block* first(unsigned c) const { return boards_[c - first_class]; }

  void put(unsigned c, mem::block* b, const mem::secret& s) {
    links::set(b, boards_[c - first_class], s);
    boards_[c - first_class] = b;
    ++count_;
  }

  // Takes first(c), of which link and key fit. The key is still there.
  mem::block* take(unsigned c, const mem::secret& s) {
    mem::block* const b = boards_[c - first_class];
    boards_[c - first_class] = links::next(b, s);
    --count_;
    return b;
  }

#if POLDER_CHECK_LEVEL >= 2
  // Traps if it is not what is noted of it. is_right(block, class): whether such a block lies there. How many there are.
  template <class IsRight>
  std::size_t validate(const mem::secret& s, IsRight is_right) const {
    std::size_t blocks = 0;
    for (unsigned c = first_class; c <= classes::count; ++c)
      for (const mem::block* b = first(c); b != nullptr; b = links::next(b, s)) {
        must(links::fit(b, s) && is_right(b, c));
        must(++blocks <= max_blocks);
      }
    must(blocks == count_);
    return blocks;
  }
#endif

 private:
  mem::block* boards_[boards];
  std::uint32_t count_, room_;  // blocks
};

}  // namespace polder::heap
