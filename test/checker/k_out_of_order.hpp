#pragma once
// k_out_of_order — bounds of the least k such that a history has a linearization to a k out of order queue or stack.
//
//   paper      Henzinger, Kirsch, Payer, Sezgin and Sokolova, "Quantitative relaxation of concurrent data structures",
//              POPL 2013
//   takes      O(n (log n + threads)), a few times for both bounds
//
// The least k is no smaller than what some element certainly overtook (overtakings.hpp), and no greater than what some
// overtake in any one linearization: a few are tried, with each operation at its call, in its middle or at its return.
// A structure that says k is wrong if the lower bound is greater, and this history of it right if the upper one is not.
// Between the two only a search could tell, which for small histories there is: general.hpp. A queue's lower bound is 0
// if and only if the history is that of a queue (queue.hpp: VOrd); a stack's may be 0 and the history no stack's.
#include <span>

#include "checker/overtakings.hpp"

namespace polder::checker {

inline std::uint32_t certain_k(std::span<const element> all, order_of o) {
  const std::vector<std::uint32_t> numbers = overtakings::overtook(all, o);
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
}

// By linearizations that are tried.
inline std::uint32_t sufficient_k(std::span<const element> all, order_of o) {
  struct instant {
    std::uint64_t at;
    bool gets;
    std::uint32_t of;
    auto operator<=>(const instant&) const = default;
  };
  const auto middle = [](std::uint64_t from, std::uint64_t to) { return from + (to - from) / 2; };
  std::uint32_t least = ~std::uint32_t{0};
  for (unsigned way = 0; way != 4; ++way) {
    std::vector<instant> in_order;
    in_order.reserve(2 * all.size());
    for (std::size_t i = 0; i != all.size(); ++i) {
      const element& e = all[i];
      std::uint64_t put = 0, get = 0;
      switch (way) {
        case 0: put = e.put_to, get = e.get_from; break;
        case 1: put = e.put_from, get = e.get_from; break;
        case 2: put = e.put_to, get = e.get_to; break;
        default: put = middle(e.put_from, e.put_to), get = middle(e.get_from, e.get_to);
      }
      if (get < put) put = get = std::max(e.put_from, e.get_from);  // a moment of both
      in_order.push_back({put, false, std::uint32_t(i)});
      in_order.push_back({get, true, std::uint32_t(i)});
    }
    std::sort(in_order.begin(), in_order.end());
    std::vector<element> placed(all.size());
    for (std::size_t n = 0; n != in_order.size(); ++n) {
      element& e = placed[in_order[n].of];
      if (!in_order[n].gets) e.put_from = e.put_to = n;
      else if (all[in_order[n].of].was_got()) e.get_from = e.get_to = n;
    }
    least = std::min(least, certain_k(placed, o));
  }
  return least;
}

}  // namespace polder::checker
