#pragma once
// sizes — block sizes that meet every size class, the large and the huge, whatever the heap's own borders are.
#include <algorithm>
#include <array>
#include <cstddef>

#include "random.hpp"

namespace polder::probe {

inline constexpr std::size_t small_limit = std::size_t{32} << 10;

// 16-byte steps to 256, then eight steps a doubling up to 32 KiB: no usual class layout has a class between two of these.
inline constexpr auto small_sizes = [] {
  std::array<std::size_t, 16 + 7 * 8> sizes{};
  std::size_t n = 0;
  for (std::size_t size = 16; size <= 256; size += 16) sizes[n++] = size;
  for (std::size_t base = 256; base < small_limit; base *= 2) {
    for (std::size_t step = 1; step <= 8; step++) sizes[n++] = base + base / 8 * step;
  }
  return sizes;
}();

inline constexpr std::array<std::size_t, 10> large_sizes = {
    (32 << 10) + 1, 48 << 10, 64 << 10, (64 << 10) + 16, 100000, 256 << 10, 700000, 1 << 20, 3 << 19, 2 << 20,
};

inline constexpr std::array<std::size_t, 4> huge_sizes = {(2 << 20) + 1, 3 << 20, (4 << 20) + 4096, 9 << 20};

template <class F>
void for_every_size(F f) {
  for (auto size : small_sizes) f(size);
  for (auto size : large_sizes) f(size);
  for (auto size : huge_sizes) f(size);
}

// Mostly small, now and then large, rarely huge: log-uniform below `limit`.
inline std::size_t any_size(random& r, std::size_t limit = small_limit) {
  if (limit > small_limit) {
    auto dice = r.below(256);
    if (dice == 0 && limit > huge_sizes[0]) return huge_sizes[r.below(huge_sizes.size())];
    if (dice < 6) return std::min(limit, large_sizes[r.below(large_sizes.size())]);
  }
  std::size_t top = std::size_t{16} << r.below(12);
  return std::min(16 + r.below(top), std::min(limit, small_limit));
}

}  // namespace polder::probe
