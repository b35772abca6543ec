#pragma once
// lateness — how far from its order elements came out: of each its age, how many it overtook, and its lateness, how
// many overtook it (overtakings.hpp: the certain ones), and how these are distributed.
//
//   paper      Haas, Lippautz, Henzinger, Payer, Sokolova, Kirsch and Sezgin, CF 2013, sec. 5.3
//   deviation  there operations are counted in the order in which they took effect, which a structure must write down;
//              here only what is certain from outside, which is less
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "checker/overtakings.hpp"

namespace polder::checker {

struct distribution {
  double mean = 0;
  std::uint32_t p50 = 0, p99 = 0, max = 0;
};

inline distribution distribution_of(std::vector<std::uint32_t> numbers) {
  if (numbers.empty()) return {};
  distribution d;
  double sum = 0;
  for (const std::uint32_t n : numbers) sum += n;
  d.mean = sum / double(numbers.size());
  const auto at = [&](std::size_t percent) {
    const auto i = numbers.begin() + std::ptrdiff_t((numbers.size() - 1) * percent / 100);
    std::nth_element(numbers.begin(), i, numbers.end());
    return *i;
  };
  d.p50 = at(50), d.p99 = at(99), d.max = at(100);
  return d;
}

struct lateness {
  distribution age, late;
};

// Of those that came out.
inline lateness lateness_of(std::span<const element> all, order_of o) {
  const auto of_those = [&](std::vector<std::uint32_t> numbers) {
    std::size_t n = 0;
    for (std::size_t i = 0; i != all.size(); ++i) {
      if (all[i].was_got()) numbers[n++] = numbers[i];
    }
    numbers.resize(n);
    return distribution_of(std::move(numbers));
  };
  return {of_those(overtakings::overtook(all, o)), of_those(overtakings::was_overtaken(all, o))};
}

}  // namespace polder::checker
