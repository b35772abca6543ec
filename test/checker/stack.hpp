#pragma once
// stack — whether elements may have come out last in, first out.
//
//   paper      the idea of removing one value after the other: Lee and Mathur, "Efficient decrease-and-conquer
//              linearizability monitoring", OOPSLA 2025; of segments: Abdulla et al., "Efficient linearizability
//              monitoring", 2025. The algorithm here is our own
//   takes      O(n log n), about 150 bytes an element of the largest part that is covered without a gap
//
// Exact. Of elements that are sane, and no empties: those are a matter of their own (emptiness.hpp). An element that
// was never got comes out at the end, when everything may. Four steps, each of which keeps what the answer is:
//
//   1. An element that is never certainly inside has a moment common to its put and its get. It is put and got there,
//      one right after the other, and disturbs nothing: leave it out.
//   2. At a moment t when nothing is certainly inside, each element may be wholly before or wholly after, and the two
//      sides are asked for themselves (the argument stands in emptiness.hpp).
//   3. What is left is a part without such a moment, from m, the first return of a put, to M, the last call of a get.
//      The stack is never empty between them. So whoever is put first comes out last: its put was called no later than
//      m and its get returned no earlier than M. If there is no such element, there is no linearization.
//   4. If there is one, whichever, it may lie at the bottom: nothing returned before its put was called, nothing was
//      called after its get returned. So the rest has a linearization if and only if all have: leave it out, back to 2.
//
// A part is a range of the moments, and its elements a range of all by return of their puts. A tree counts how many
// elements cover each gap between neighbouring moments (2); one finds whose put was called early enough, which stays so
// in each smaller part, and one, among those, whose get returned last (3).
#include <memory>
#include <optional>
#include <span>

#include "checker/best.hpp"
#include "checker/cover.hpp"
#include "checker/elements.hpp"

namespace polder::checker {

// Steps 2 to 4 of a part that is covered without a gap.
class stack_part {
 public:
  struct piece {
    std::uint64_t put_from, put_to, get_from, get_to;
  };

  // Pieces by put_to.
  explicit stack_part(const std::vector<piece>& of) : moments_(moments_of(of)) {
    const std::size_t gaps = moments_.size() - 1;
    std::vector<std::int32_t> counts(gaps + 1);
    std::vector<std::int32_t> early(of.size());
    std::vector<std::int32_t> nothing(of.size(), best::lowest);
    places_.reserve(of.size());
    for (std::size_t i = 0; i != of.size(); ++i) {
      const piece& p = of[i];
      const place at{before(starts(p.put_to)), before(ends(p.get_from)), before(ends(p.get_to) + 1) - 1};
      places_.push_back(at);
      ++counts[std::size_t(at.first)], --counts[std::size_t(at.end)];
      early[i] = -before(starts(p.put_from));
    }
    for (std::size_t g = 1; g != gaps; ++g) counts[g] += counts[g - 1];
    counts.resize(gaps);
    cover_ = std::make_unique<cover>(counts);
    waiting_ = std::make_unique<best>(early);
    bottoms_ = std::make_unique<best>(nothing);
  }

  // The moments of a part in which no element can lie at the bottom, or nothing.
  std::optional<moments> stuck() {
    std::vector<range> open;
    split({0, moments_.size() - 2}, open);
    while (!open.empty()) {
      const range r = open.back();
      open.pop_back();
      const auto by_first = [](const place& p, std::size_t gap) { return std::size_t(p.first) < gap; };
      const auto begin = std::lower_bound(places_.begin(), places_.end(), r.first, by_first);
      const std::size_t first = std::size_t(begin - places_.begin());
      const std::size_t end =
          std::size_t(std::lower_bound(begin, places_.end(), r.last + 1, by_first) - places_.begin());
      for (best::entry e;
           (e = waiting_->in(first, end)).number >= -std::int32_t(r.first) && e.number != best::lowest;) {
        waiting_->set(e.place, best::lowest);
        bottoms_->set(e.place, places_[e.place].got);
      }
      const best::entry bottom = bottoms_->in(first, end);
      if (bottom.number < std::int32_t(r.last + 1)) return moments{moments_[r.first] / 2, moments_[r.last + 1] / 2};
      bottoms_->set(bottom.place, best::lowest);
      const place& p = places_[bottom.place];
      cover_->remove(std::size_t(p.first), std::size_t(p.end) - 1);
      split(r, open);
    }
    return std::nullopt;
  }

 private:
  struct range {
    std::size_t first, last;  // gaps; gap i lies between moments i and i + 1
  };
  struct place {
    std::int32_t first, end;  // the gaps in which it is certainly inside
    std::int32_t got;         // the last moment no later than its get's return
  };

  // A moment twice over: first what is inside until then ends, then what is inside from then on starts, so that there
  // is a gap between the two.
  static std::uint64_t ends(std::uint64_t t) { return 2 * std::min(t, never / 4); }
  static std::uint64_t starts(std::uint64_t t) { return ends(t) + 1; }

  static std::vector<std::uint64_t> moments_of(const std::vector<piece>& of) {
    std::vector<std::uint64_t> found;
    found.reserve(2 * of.size());
    for (const piece& p : of) found.push_back(starts(p.put_to)), found.push_back(ends(p.get_from));
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
  std::int32_t before(std::uint64_t moment) const {
    return std::int32_t(std::lower_bound(moments_.begin(), moments_.end(), moment) - moments_.begin());
  }
  // The parts of r that are covered without a gap.
  void split(range r, std::vector<range>& parts) const {
    for (std::size_t from = r.first; from <= r.last;) {
      const std::size_t bare = cover_->find_bare(from, r.last);
      if (bare != from) parts.push_back({from, bare == cover::none ? r.last : bare - 1});
      if (bare == cover::none) return;
      from = bare + 1;
    }
  }

  std::vector<std::uint64_t> moments_;  // starts of returns of puts, ends of calls of gets
  std::vector<place> places_;           // by piece
  std::unique_ptr<cover> cover_;
  std::unique_ptr<best> waiting_;  // -(call of put) of those whose put was called too late for the bottom so far
  std::unique_ptr<best> bottoms_;  // return of get of the others that are left
};

inline verdict stack(std::span<const element> all) {
  using piece = stack_part::piece;
  std::vector<piece> pieces;
  pieces.reserve(all.size());
  for (const element& e : all) {
    if (e.surely_inside()) pieces.push_back({e.put_from, e.put_to, e.get_from, e.get_to});
  }
  std::sort(pieces.begin(), pieces.end(), [](const piece& a, const piece& b) { return a.put_to < b.put_to; });
  for (std::size_t first = 0, end; first != pieces.size(); first = end) {
    std::uint64_t until = pieces[first].get_from;
    for (end = first + 1; end != pieces.size() && pieces[end].put_to < until; ++end)
      until = std::max(until, pieces[end].get_from);
    if (end == first + 1) continue;
    if (const auto stuck =
            stack_part({pieces.begin() + std::ptrdiff_t(first), pieces.begin() + std::ptrdiff_t(end)}).stuck())
      return {"none of those put and got from " + std::to_string(stuck->from) + " to " + std::to_string(stuck->to) +
              " can have been below the others"};
  }
  return {};
}

}  // namespace polder::checker
