#pragma once
// deque — whether elements may have come out of the ends as they did. Small histories alone, up to 64 operations: no
// polynomial algorithm is known to us. Exact, empties and all.
#include "checker/general.hpp"
#include "checker/verdict.hpp"

namespace polder::checker {

inline verdict deque(const history& h, std::size_t k = 0) {
  if (linearizable(sequential_deque(k), h)) return {};
  return {"no order of the operations is that of a deque"};
}

}  // namespace polder::checker
