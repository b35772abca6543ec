#pragma once
// by_thread — a cell for each thread number (smr/thread_slot.hpp), which all threads go through: parts/by_number.hpp of
// the calling thread.
#include <polder/ds/parts/by_number.hpp>
#include <polder/ds/parts/thread_slot.hpp>

namespace polder::ds {

template <class Cell>
class by_thread {
 public:
  using cell = Cell;

  // The calling thread's, which has a guard open: its number stays its own meanwhile. Throws std::bad_alloc.
  Cell& mine() { return cells_.at(thread_slot::mine()); }

  // Calls f with each cell until it returns true, the calling thread's first and so on round.
  template <class F>
  void each(F&& f) {
    cells_.each(thread_slot::mine(), f);
  }
  template <class F>
  void each(F&& f) const {
    const_cast<by_thread*>(this)->each([&](const Cell& c) { return f(c); });
  }

 private:
  static_assert(thread_slot::most <= by_number<Cell>::most);
  by_number<Cell> cells_;
};

}  // namespace polder::ds
