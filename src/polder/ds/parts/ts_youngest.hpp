#pragma once
// ts_youngest — takes the element with the latest stamp that is on top of any thread's buffer.
//
//   paper      Dodds, Haas and Kirsch, POPL 2015, fig. 3: pop and tryRem
//   progress   lock-free: it looks again only when another thread has taken what was chosen, or put while all seemed
//              empty
//   in malloc  no
//   deviation  empty buffers are compared by how many puts each saw, not by what was on top: sums need no room for each
//
// Elimination: an element whose put had not ended when the get began, or that has no stamp yet, is taken at once: put
// and get overlap, so the one may be thought right behind the other.
#include <cstdint>
#include <optional>

#include <polder/ds/parts/clock.hpp>

namespace polder::ds {

// Element: what to do with the node that was taken, which the guard still keeps.
template <class Guard, class Cells, class Clock, class Element>
bool take_youngest(Guard& g, Cells& cells, const Clock& clock, Element&& element) {
  const std::uint64_t now = clock.now(cells);
  for (;;) {
    typename Cells::cell* best = nullptr;
    typename Cells::cell::list::node* node = nullptr;
    std::optional<typename Clock::time> latest;
    std::uint64_t puts = 0;
    cells.each([&](auto& cell) {
      puts += cell.buffer.numbers().before();
      auto* const n = cell.buffer.youngest(g);
      if (n == nullptr) return false;
      const auto stamp = n->stamp.get();
      const bool at_once = !stamp || stamp->over_after(now);
      if (!at_once && latest && !earlier(*latest, *stamp)) return false;
      g.hold(cell.buffer.chosen, n);
      best = &cell, node = n, latest = stamp;
      return at_once;
    });
    if (node != nullptr) {
      if (!best->buffer.take(node)) continue;
      element(*node);
      best->buffer.bury(g, node);
      return true;
    }
    bool seen = false;
    cells.each([&](auto& cell) {
      seen = cell.buffer.youngest(g) != nullptr;
      puts -= cell.buffer.numbers().behind();
      return seen;
    });
    if (!seen && puts == 0) return false;
  }
}

}  // namespace polder::ds
