#pragma once
// usual_sizes — block sizes as programs in C and C++ ask for them: most are small, a few are large.
#include <cstdint>

#include "core/random.hpp"

namespace polder::bench {

// Of 1000 blocks, so many are above the size before and up to this one: mean 499 bytes, median 54.
struct size_share {
  std::uint16_t permille;
  std::uint32_t up_to;
};
inline constexpr size_share usual_sizes[] = {{60, 16},  {240, 32},  {290, 64},  {180, 128}, {90, 256},
                                             {60, 512}, {40, 1024}, {30, 4096}, {9, 32768}, {1, 262144}};

inline std::uint32_t usual_size(random& numbers) {
  auto at = numbers.below(1000);
  std::uint32_t above = 0;
  for (const size_share& s : usual_sizes) {
    if (at < s.permille) return static_cast<std::uint32_t>(numbers.between(above + 1, s.up_to));
    at -= s.permille;
    above = s.up_to;
  }
  return 16;
}

}  // namespace polder::bench
