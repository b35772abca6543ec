#pragma once
// queue — whether elements may have come out in the order in which they were put.
//
//   paper      Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", CONCUR 2013: a history of
//              complete operations with different values is that of a queue unless a value came out that was not put or
//              before it was (VFresh), came out twice (VRepet: both elements_of), an empty is wrong (VWit:
//              emptiness.hpp), or, VOrd: a was put before b, and b came out and a did not, or b came out before a
//   takes      O(n log n), two indices
//
// Exact. Of elements that are sane, and no empties: those are a matter of their own.
#include <span>

#include "checker/elements.hpp"

namespace polder::checker {

inline verdict queue(std::span<const element> all) {
  struct moment {
    std::uint64_t at;
    std::uint32_t of;
  };
  const auto ordered_by = [&](auto key) {
    std::vector<moment> index(all.size());
    for (std::size_t i = 0; i != all.size(); ++i) index[i] = {all[i].*key, std::uint32_t(i)};
    std::sort(index.begin(), index.end(), [](const moment& a, const moment& b) { return a.at < b.at; });
    return index;
  };
  const std::vector<moment> ended = ordered_by(&element::put_to);
  const element* last = nullptr;  // got last among those whose put has ended
  std::size_t n = 0;
  for (const moment& m : ordered_by(&element::put_from)) {
    for (; n != ended.size() && ended[n].at < m.at; ++n) {
      const element& a = all[ended[n].of];
      if (last == nullptr || a.get_from > last->get_from) last = &a;
    }
    const element& b = all[m.of];
    if (last == nullptr || b.get_to >= last->get_from) continue;
    return {"value " + std::to_string(last->value) + " was put before " + std::to_string(b.value) +
            (last->was_got() ? " and came out after it" : " and did not come out, as that did")};
  }
  return {};
}

}  // namespace polder::checker
