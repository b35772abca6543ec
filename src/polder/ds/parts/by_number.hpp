#pragma once
// by_number — a cell for each number of a thread, which all threads go through.
//
//   progress   at(): wait-free, but for the allocator's part; each(): wait-free, in the highest number that ever had a
//              cell
//   in malloc  no: at() may allocate
//
// A cell stays until the end, and the next thread with its number goes on with it. Row r has the cells of the numbers
// 2^r to 2^(r+1) - 1; it is made when one of these threads first asks.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Cell>
class by_number {
  static constexpr unsigned rows = 16;

 public:
  using number = std::uint32_t;  // from 1
  static constexpr number most = (number{1} << rows) - 1;

  by_number() = default;
  by_number(const by_number&) = delete;
  by_number& operator=(const by_number&) = delete;
  ~by_number() {
    for (atomic<padded*>& row : rows_) delete[] row.load(order::relaxed);
  }

  // That of the calling thread, whose number this is. Throws std::bad_alloc.
  Cell& at(number mine) {
    const unsigned row = unsigned(std::bit_width(mine)) - 1;
    padded* cells = rows_[row].load(order::acquire);  // sync: cells-made
    if (cells == nullptr) [[unlikely]]
      cells = make(row);
    number highest = highest_.load(order::relaxed);
    while (highest < mine && !highest_.cas(highest, mine, order::release, order::relaxed)) {  // sync: cells-seen
    }
    return cells[mine - first_of(row)].inside;
  }

  // Calls f with each cell until it returns true, this number's first and so on round.
  template <class F>
  void each(number first, F&& f) {
    const number highest = highest_.load(order::acquire);  // sync: cells-seen
    const number from = std::clamp(first, number{1}, highest + 1);
    if (!between(from, highest, f)) between(1, from - 1, f);
  }

 private:
  struct padded {
    Cell inside;
    std::byte apart[false_sharing_range];  // from the next one, however rows are aligned
  };

  static constexpr number first_of(unsigned row) { return number{1} << row; }

  template <class F>
  bool between(number from, number last, F& f) {
    while (from <= last) {
      const unsigned row = unsigned(std::bit_width(from)) - 1;
      const number end = std::min(last + 1, first_of(row + 1));
      padded* const cells = rows_[row].load(order::acquire);  // sync: cells-made
      for (; cells != nullptr && from != end; ++from) {
        if (f(cells[from - first_of(row)].inside)) return true;
      }
      from = end;
    }
    return false;
  }

  padded* make(unsigned row) {
    padded* const made = new padded[first_of(row)]();
    padded* there = nullptr;
    if (rows_[row].cas(there, made, order::release, order::acquire)) return made;  // sync: cells-made
    delete[] made;
    return there;
  }

  // rows_ — null until made, then the same for ever. Written by who first needs one, read by all.
  //   order  cells-made: who sees a row sees its cells as they were made
  atomic<padded*> rows_[rows];
  // highest_ — the highest number that has asked. Written by who raises it, read by who goes through. Only grows.
  //   order  cells-seen: who sees a number sees its row, and those of all that were the highest before
  atomic<number> highest_{0};
};

}  // namespace polder::ds
