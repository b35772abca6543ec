#pragma once
// cover — how many intervals cover each of n places: add to a range, find the first place that none covers.
//
// A binary tree over the places; a node's count is the least among its places, of what was added to it or below.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace polder::checker {

class cover {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  // counts: of each place, at the start.
  explicit cover(const std::vector<std::int32_t>& counts)
      : leaves_(std::bit_ceil(std::max<std::size_t>(counts.size(), 1))), least_(2 * leaves_), added_(2 * leaves_) {
    for (std::size_t i = 0; i != leaves_; ++i) least_[leaves_ + i] = i < counts.size() ? counts[i] : 1;
    for (std::size_t n = leaves_ - 1; n != 0; --n) least_[n] = std::min(least_[2 * n], least_[2 * n + 1]);
  }

  // One interval less over the places from first to last.
  void remove(std::size_t first, std::size_t last) { remove(1, 0, leaves_ - 1, first, last); }

  // The first place from first to last that nothing covers.
  std::size_t find_bare(std::size_t first, std::size_t last) const {
    return find(1, 0, leaves_ - 1, first, last, 0);
  }

 private:
  void remove(std::size_t n, std::size_t from, std::size_t to, std::size_t first, std::size_t last) {
    if (last < from || to < first) return;
    if (first <= from && to <= last) {
      --least_[n], --added_[n];
      return;
    }
    const std::size_t half = from + (to - from) / 2;
    remove(2 * n, from, half, first, last);
    remove(2 * n + 1, half + 1, to, first, last);
    least_[n] = std::min(least_[2 * n], least_[2 * n + 1]) + added_[n];
  }

  std::size_t find(std::size_t n, std::size_t from, std::size_t to, std::size_t first, std::size_t last,
                   std::int32_t above) const {
    if (last < from || to < first || least_[n] + above > 0) return none;
    if (from == to) return from;
    const std::size_t half = from + (to - from) / 2;
    const std::size_t found = find(2 * n, from, half, first, last, above + added_[n]);
    return found != none ? found : find(2 * n + 1, half + 1, to, first, last, above + added_[n]);
  }

  std::size_t leaves_;
  std::vector<std::int32_t> least_;  // by node; with added_ of itself, without that of those above
  std::vector<std::int32_t> added_;
};

}  // namespace polder::checker
