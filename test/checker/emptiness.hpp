#pragma once
// emptiness — how many of the gets that found nothing are wrong: at each moment of theirs some element was certainly
// inside.
//
//   paper      Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", CONCUR 2013: VWit
//   takes      O(n log n)
//
// This is all there is to exact empties, beside any order that does not mind if elements had never been there and that
// allows what is allowed from the start again once all are out: queue, stack, deque, pool, and k out of order each. Let
// a history without its empties have a linearization, and each empty a moment t at which nothing is certainly inside.
// An element whose put may be after t (put_to >= t) and one whose get may be before t (get_from <= t): each is one of
// them. Those whose get or put must be before t (its last moment is < t) go before, the rest after. No operation of the
// latter returned before t, none of the former was called after t, and the empty overlaps t: so the linearization of
// the former alone, the empty, and that of the latter alone keep the order of what did not overlap. The same again for
// the next empty, within its part.
#include <cstddef>
#include <span>

#include "checker/elements.hpp"

namespace polder::checker {

struct emptiness {
  std::size_t asked = 0;  // gets that found nothing
  std::size_t wrong = 0;
  moments example = {};  // of a wrong one

  verdict exact() const {
    if (wrong == 0) return {};
    return {std::to_string(wrong) + " of " + std::to_string(asked) +
            " gets found nothing while something was inside, the one from " + std::to_string(example.from) +
            " to " + std::to_string(example.to) + " among them"};
  }
};

// The elements by number alone, for what may take any of them: the i-th to have been put is the one whose get is called
// as the i-th. At each moment as many of them are certainly inside as puts had returned more than gets had been called.
inline std::vector<element> by_number(std::vector<element> all) {
  std::vector<std::uint64_t> gets;
  gets.reserve(all.size());
  for (const element& e : all) gets.push_back(e.get_from);
  std::sort(gets.begin(), gets.end());
  std::sort(all.begin(), all.end(), [](const element& a, const element& b) { return a.put_to < b.put_to; });
  for (std::size_t i = 0; i != all.size(); ++i) all[i].get_from = gets[i];
  return all;
}

inline emptiness emptiness_of(std::span<const element> all, std::span<const moments> empties) {
  std::vector<moments> inside;  // then: unions of what touches more than at an end, ascending
  inside.reserve(all.size());
  for (const element& e : all) {
    if (e.surely_inside()) inside.push_back({e.put_to, e.get_from});
  }
  std::sort(inside.begin(), inside.end(), [](const moments& a, const moments& b) { return a.from < b.from; });
  std::size_t unions = 0;
  for (const moments& m : inside) {
    if (unions != 0 && m.from < inside[unions - 1].to) {
      inside[unions - 1].to = std::max(inside[unions - 1].to, m.to);
    } else {
      inside[unions++] = m;
    }
  }
  inside.resize(unions);
  emptiness found{empties.size()};
  for (const moments& e : empties) {
    // The last that began before it.
    auto i = std::lower_bound(inside.begin(), inside.end(), e.from,
                              [](const moments& m, std::uint64_t t) { return m.from < t; });
    if (i != inside.begin() && (--i)->to > e.to && i->from < e.from) ++found.wrong, found.example = e;
  }
  return found;
}

// Those gets that found nothing while nobody else was at work.
inline std::vector<moments> undisturbed(const elements& of) {
  std::vector<moments> all;
  all.reserve(2 * of.all.size() + of.empties.size());
  for (const element& e : of.all) {
    all.push_back({e.put_from, e.put_to});
    if (e.was_got()) all.push_back({e.get_from, e.get_to});
  }
  all.insert(all.end(), of.empties.begin(), of.empties.end());
  std::sort(all.begin(), all.end(), [](const moments& a, const moments& b) { return a.from < b.from; });
  // By call; whether all before returned before, and whether the next was called after.
  std::vector<std::uint64_t> calls;
  std::uint64_t returned = 0;
  for (std::size_t i = 0; i != all.size(); ++i) {
    const bool last = i + 1 == all.size();
    if ((i == 0 || returned < all[i].from) && (last || all[i].to < all[i + 1].from)) calls.push_back(all[i].from);
    returned = std::max(returned, all[i].to);
  }
  std::vector<moments> found;
  for (const moments& e : of.empties) {
    if (std::binary_search(calls.begin(), calls.end(), e.from)) found.push_back(e);
  }
  return found;
}

}  // namespace polder::checker
