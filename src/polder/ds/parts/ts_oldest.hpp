#pragma once
// ts_oldest — takes the element with the earliest stamp that is first in any thread's buffer.
//
//   paper      Dodds, Haas and Kirsch, POPL 2015, sec. 7; Haas, thesis, 2015
//   progress   lock-free: it looks again only when another thread took what was chosen, or put while it looked
//   in malloc  no
//   deviation  an element without a stamp is not there yet, so nobody waits for its put; empty buffers are compared
//              by the numbers of their elements
//
// Only an element whose put began before the get is taken: a scan may have missed what was put into one buffer before
// a later put into another that it did see, but then the later one's stamp is later than the scan began
// (parts/clock.hpp).
//
// The empty answer. A node's number counts its buffer's puts. Two scans see no stamped element, and the nodes before
// the oldest have the same numbers in sum, so each has the same, for it only grows: nothing was taken from any buffer
// between what the two scans saw of it. What one put in between would be inside at the second scan, and a put whose
// element has no stamp then has not ended. So at the moment between the scans all were empty, but for puts that may
// be thought later.
#include <cstdint>
#include <optional>

#include <polder/ds/parts/clock.hpp>

namespace polder::ds {

// Element: what to do with the node that was taken, which the guard still keeps.
template <class Guard, class Cells, class Clock, class Element>
bool take_oldest(Guard& g, Cells& cells, const Clock& clock, Element&& element) {
  using buffer = typename Cells::cell::list;
  for (;;) {
    const std::uint64_t now = clock.now(cells);
    buffer* whose = nullptr;
    typename buffer::place best;
    std::optional<typename Clock::time> earliest;
    std::uint64_t taken = 0;
    cells.each([&](auto& cell) {
      const auto p = cell.buffer.oldest(g);
      taken += p.number();
      if (p.first == nullptr) return false;
      const auto stamp = p.first->stamp.get();
      if (!stamp || (earliest && !earlier(*stamp, *earliest))) return false;
      buffer::hold(g, p);
      whose = &cell.buffer, best = p, earliest = stamp;
      return false;
    });
    if (whose != nullptr) {
      if (!earliest->begun_by(now) || !whose->take(best)) continue;
      element(*best.first);
      g.retire(best.before);
      return true;
    }
    bool seen = false;
    cells.each([&](auto& cell) {
      const auto p = cell.buffer.oldest(g);
      taken -= p.number();
      return seen = p.first != nullptr && p.first->stamp.get();
    });
    if (!seen && taken == 0) return false;
  }
}

}  // namespace polder::ds
