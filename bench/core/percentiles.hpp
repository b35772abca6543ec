#pragma once
// percentiles — of what several histograms hold together.
#include <algorithm>
#include <cstdint>

#include "core/log_linear.hpp"
#include "core/mapped_array.hpp"

namespace polder::bench {

class percentiles {
 public:
  void add(const log_linear& more) {
    for (std::size_t i = 0; i < log_linear::size; ++i) {
      counts_[i] += more.count(i);
      all_ += more.count(i);
    }
    worst_ = std::max(worst_, more.worst());
  }
  std::uint64_t count() const { return all_; }
  std::uint64_t worst() const { return worst_; }

  // The highest value of the bucket below which, or in which, that share of all values lies.
  std::uint64_t at(double share) const {
    std::uint64_t below = 0;
    std::size_t i = 0;
    while (i + 1 < log_linear::size && static_cast<double>(below += counts_[i]) < share * static_cast<double>(all_))
      ++i;
    return std::min(log_linear::highest(i), worst_);
  }

 private:
  mapped_array<std::uint64_t> counts_{log_linear::size};
  std::uint64_t all_ = 0;
  std::uint64_t worst_ = 0;
};

}  // namespace polder::bench
