#pragma once
// touch — how much of a large block a workload writes and checks, and sizes spread evenly over the octaves.
#include <cstddef>
#include <string_view>

#include "core/random.hpp"
#include "core/settings.hpp"

namespace polder::bench {

inline constexpr std::string_view touch_choices = "ends|pages|lines|all";

// The distance between the words that are written.
inline std::size_t touch_step(const settings& with) {
  const auto how = with.word("touch");
  return how == "all" ? 8 : how == "lines" ? 64 : how == "pages" ? 4096 : ~std::size_t{0} >> 1;
}

// As likely between 64 K and 128 K as between 4 M and 8 M.
inline std::size_t any_magnitude(random& numbers, std::size_t least, std::size_t most) {
  const unsigned octaves = static_cast<unsigned>(__builtin_clzll(least) - __builtin_clzll(most));
  const unsigned choices = octaves + ((least << octaves) < most);  // not one that holds nothing but `most`
  const std::size_t low = least << numbers.below(choices == 0 ? 1 : choices);
  return numbers.between(low, low * 2 >= most ? most : low * 2 - 1);
}

}  // namespace polder::bench
