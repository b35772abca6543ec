#pragma once
// by_thread — a cell for each thread number (smr/thread_slot.hpp), which all threads go through.
//
//   progress   mine(): wait-free, but for the allocator's part; each(): wait-free, in the highest number that ever
//              had a cell
//   in malloc  no: mine() may allocate
//
// A cell stays until the end, and the next thread with its number goes on with it. Row r has the cells of the numbers
// 2^r to 2^(r+1) - 1; it is made when one of these threads first asks.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/ds/parts/thread_slot.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Cell>
class by_thread {
 public:
  using cell = Cell;

  by_thread() = default;
  by_thread(const by_thread&) = delete;
  by_thread& operator=(const by_thread&) = delete;
  ~by_thread() {
    for (atomic<padded*>& row : rows_) delete[] row.load(order::relaxed);
  }

  // The calling thread's, which has a guard open: its number stays its own meanwhile. Throws std::bad_alloc.
  Cell& mine() {
    const std::uint32_t number = thread_slot::mine();
    const unsigned row = unsigned(std::bit_width(number)) - 1;
    padded* cells = rows_[row].load(order::acquire);  // sync: cells-made
    if (cells == nullptr) [[unlikely]]
      cells = make(row);
    std::uint32_t most = most_.load(order::relaxed);
    while (most < number && !most_.cas(most, number, order::release, order::relaxed)) {  // sync: cells-seen
    }
    return cells[number - first_of(row)].inside;
  }

  // Calls f with each cell until it returns true, the calling thread's first and so on round.
  template <class F>
  void each(F&& f) {
    const std::uint32_t most = most_.load(order::acquire);  // sync: cells-seen
    const std::uint32_t from = std::clamp(thread_slot::mine(), std::uint32_t{1}, most + 1);
    if (!between(from, most, f)) between(1, from - 1, f);
  }
  template <class F>
  void each(F&& f) const {
    const_cast<by_thread*>(this)->each([&](const Cell& c) { return f(c); });
  }

 private:
  static constexpr unsigned rows = 16;
  static_assert(thread_slot::most < std::uint32_t{1} << rows);

  struct padded {
    Cell inside;
    std::byte apart[false_sharing_range];  // from the next one, however rows are aligned
  };

  static constexpr std::uint32_t first_of(unsigned row) { return std::uint32_t{1} << row; }

  template <class F>
  bool between(std::uint32_t from, std::uint32_t last, F& f) {
    while (from <= last) {
      const unsigned row = unsigned(std::bit_width(from)) - 1;
      const std::uint32_t end = std::min(last + 1, first_of(row + 1));
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
  // most_ — the highest number that has asked. Written by who raises it, read by who goes through. Only grows.
  //   order  cells-seen: who sees a number sees its row
  atomic<std::uint32_t> most_{0};
};

}  // namespace polder::ds
