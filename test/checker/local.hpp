#pragma once
// local — local linearizability: for each thread, its own puts and the gets, by anybody, of what it put.
//
//   paper      Haas, Henzinger, Holzer, Kirsch, Lippautz, Payer, Sezgin, Sokolova and Veith, CONCUR 2016, def. 2 to 4
//   takes      what the order takes, and a sort
//
// An order is a function of elements, queue or stack. Empties are, as ever, a matter of their own (emptiness.hpp): the
// paper counts a get that found nothing among the gets of each thread, so that it is wrong if something of one thread
// was inside all the time: local_emptiness. A structure whose empties are exact is held to emptiness_of, which says
// more: what is covered by one thread's elements is covered by all threads'.
#include <span>

#include "checker/emptiness.hpp"

namespace polder::checker {

// Calls f with the elements of each thread that put some, until one's verdict is bad.
template <class F>
verdict each_putter(std::span<const element> all, F f) {
  std::vector<element> by_putter(all.begin(), all.end());
  const auto less = [](const element& a, const element& b) { return a.putter < b.putter; };
  if (!std::is_sorted(by_putter.begin(), by_putter.end(), less))
    std::stable_sort(by_putter.begin(), by_putter.end(), less);
  for (auto first = by_putter.begin(); first != by_putter.end();) {
    const auto end = std::upper_bound(first, by_putter.end(), *first, less);
    if (verdict v = f(std::span<const element>(first, end)); !v)
      return {"of what thread " + std::to_string(first->putter) + " put: " + v.wrong};
    first = end;
  }
  return {};
}

template <class Order>
verdict local(std::span<const element> all, Order order) {
  return each_putter(all, order);
}

inline verdict local_emptiness(std::span<const element> all, std::span<const moments> empties) {
  return each_putter(all, [&](std::span<const element> own) { return emptiness_of(own, empties).exact(); });
}

}  // namespace polder::checker
