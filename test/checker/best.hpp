#pragma once
// best — the greatest of the numbers in a range of places, and where it is; numbers may be changed.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace polder::checker {

class best {
 public:
  static constexpr std::int32_t lowest = INT32_MIN;
  struct entry {
    std::int32_t number = lowest;
    std::uint32_t place = 0;
  };

  explicit best(const std::vector<std::int32_t>& numbers)
      : leaves_(std::bit_ceil(std::max<std::size_t>(numbers.size(), 1))), greatest_(2 * leaves_) {
    for (std::size_t i = 0; i != numbers.size(); ++i) greatest_[leaves_ + i] = {numbers[i], std::uint32_t(i)};
    for (std::size_t n = leaves_ - 1; n != 0; --n) greatest_[n] = greater(greatest_[2 * n], greatest_[2 * n + 1]);
  }

  void set(std::size_t place, std::int32_t number) {
    std::size_t n = leaves_ + place;
    greatest_[n] = {number, std::uint32_t(place)};
    while ((n /= 2) != 0) greatest_[n] = greater(greatest_[2 * n], greatest_[2 * n + 1]);
  }

  // From first, before end.
  entry in(std::size_t first, std::size_t end) const {
    entry found;
    for (first += leaves_, end += leaves_; first < end; first /= 2, end /= 2) {
      if (first % 2 == 1) found = greater(found, greatest_[first++]);
      if (end % 2 == 1) found = greater(found, greatest_[--end]);
    }
    return found;
  }

 private:
  static entry greater(const entry& a, const entry& b) { return b.number > a.number ? b : a; }

  std::size_t leaves_;
  std::vector<entry> greatest_;  // by node
};

}  // namespace polder::checker
