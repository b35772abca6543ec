#pragma once
// quiescent — quiescent consistency, said as linearizability: between two moments at which nobody is at work operations
// may take effect in any order, so each is taken to last from the one moment to the other.
//
//   paper      Aspnes, Herlihy and Shavit, JACM 1994; Herlihy and Shavit, The Art of Multiprocessor Programming, sec.
//              3.3
//   takes      O(n log n)
//
// What comes out is asked like any other: queue, stack, emptiness_of. It says little of a run in which somebody is
// always at work: the recorded threads should meet from time to time.
#include "checker/elements.hpp"

namespace polder::checker {

struct rounds {
  elements of;
  std::size_t count = 0;  // times between two quiescent moments
};

inline rounds quiescent(elements of) {
  std::vector<moments> all;
  all.reserve(2 * of.all.size() + of.empties.size());
  for (const element& e : of.all) {
    all.push_back({e.put_from, e.put_to});
    if (e.was_got()) all.push_back({e.get_from, e.get_to});
  }
  all.insert(all.end(), of.empties.begin(), of.empties.end());
  std::sort(all.begin(), all.end(), [](const moments& a, const moments& b) { return a.from < b.from; });
  std::vector<std::uint64_t> begins;
  std::uint64_t until = 0;
  for (const moments& m : all) {
    if (begins.empty() || m.from > until) begins.push_back(m.from);
    until = std::max(until, m.to);
  }
  const auto round = [&](std::uint64_t t) {
    return std::uint64_t(std::upper_bound(begins.begin(), begins.end(), t) - begins.begin());
  };
  for (element& e : of.all) {
    e.put_from = e.put_to = round(e.put_from);
    if (e.was_got()) e.get_from = e.get_to = round(e.get_from);
  }
  for (moments& m : of.empties) m.from = m.to = round(m.from);
  return {std::move(of), begins.size()};
}

}  // namespace polder::checker
