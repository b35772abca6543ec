#pragma once
// ts_sides — one thread's part of a time-stamped deque, and the search at one side of all of them.
//
//   paper      Haas, "Fast concurrent data structures through timestamping", thesis, Salzburg 2015: TS deque
//   progress   lock-free: it looks again only when another thread took what was chosen, or put while it looked
//   in malloc  no
//
// Elements that were put at the left stand left of all that were put at the right, the later the further out:
//
//     left   l3 l2 l1 | r1 r2 r3   right
//
// So the leftmost is the latest that was put at the left, or if there is none the earliest that was put at the right. A
// thread keeps a list for each side (parts/ts_lane.hpp); a get looks at all of them as the stack's does at its own side
// (parts/ts_youngest.hpp: elimination, the empty answer) and as the queue's at the other (parts/ts_oldest.hpp: only
// what was begun before the scan, nothing without a stamp).
//
// needs regions, as lanes do.
#include <cstdint>
#include <optional>

#include <polder/ds/parts/clock.hpp>
#include <polder/ds/parts/deque_names.hpp>

namespace polder::ds {

template <class Lane>
struct ts_sides {
  using lane = Lane;
  Lane lanes[2];
  Lane& at(side s) noexcept { return lanes[unsigned(s)]; }
};

// Element: what to do with the node that was taken, before it is buried.
template <class Guard, class Cells, class Clock, class Element>
bool take_outermost(Guard& g, Cells& cells, const Clock& clock, side at, Element&& element) {
  using lane = typename Cells::cell::list::lane;
  for (;;) {
    const std::uint64_t now = clock.now(cells);
    lane* whose = nullptr;
    typename lane::node* best = nullptr;
    bool across = false;  // best was put at the other side
    std::optional<typename Clock::time> stamp_of_best;
    std::uint64_t puts = 0;
    const auto choose = [&](lane& l, typename lane::node* n, bool is_across, const auto& stamp) {
      whose = &l, best = n, across = is_across, stamp_of_best = stamp;
    };
    cells.each([&](auto& cell) {
      lane& near = cell.buffer.at(at);
      lane& far = cell.buffer.at(other(at));
      puts += near.numbers().before() + far.numbers().before();
      if (auto* const n = near.youngest()) {
        const auto stamp = n->stamp.get();
        const bool at_once = !stamp || stamp->over_after(now);
        if (at_once || best == nullptr || across || earlier(*stamp_of_best, *stamp)) choose(near, n, false, stamp);
        return at_once;
      }
      if (best != nullptr && !across) return false;
      auto* const n = far.oldest();
      if (n == nullptr) return false;
      const auto stamp = n->stamp.get();
      if (stamp && (best == nullptr || earlier(*stamp, *stamp_of_best))) choose(far, n, true, stamp);
      return false;
    });
    if (best != nullptr) {
      if ((across && !stamp_of_best->begun_by(now)) || !whose->take(best)) continue;
      element(*best);
      whose->bury(g, best);
      return true;
    }
    bool seen = false;
    cells.each([&](auto& cell) {
      lane& near = cell.buffer.at(at);
      lane& far = cell.buffer.at(other(at));
      auto* const n = far.oldest();
      seen = near.youngest() != nullptr || (n != nullptr && n->stamp.get());
      puts -= near.numbers().behind() + far.numbers().behind();
      return seen;
    });
    if (!seen && puts == 0) return false;
  }
}

}  // namespace polder::ds
