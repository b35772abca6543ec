#pragma once
// zipf — numbers from 0 to n-1, of which the kth is drawn with a chance proportional to 1 / (k+1)^theta: by rejection from
// the integral of that curve (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
// distributions", 1996). No table, about one try a number.
#include <cmath>
#include <cstdint>

#include "core/random.hpp"

namespace polder::bench {

class zipf {
 public:
  // theta > 0; n > 0.
  zipf(std::uint64_t n, double theta)
      : n_(static_cast<double>(n)),
        theta_(theta),
        first_(integral(1.5) - 1),
        last_(integral(n_ + 0.5)),
        sure_(2 - inverse(integral(2.5) - height(2))) {}

  std::uint64_t operator()(random& numbers) const {
    for (;;) {
      const double uniform = static_cast<double>(numbers.next() >> 11) * 0x1p-53;
      const double u = last_ + uniform * (first_ - last_);
      const double x = inverse(u);
      double k = std::floor(x + 0.5);
      if (k < 1) k = 1;
      if (k > n_) k = n_;
      if (k - x <= sure_ || u >= integral(k + 0.5) - height(k)) return static_cast<std::uint64_t>(k) - 1;
    }
  }

 private:
  double height(double x) const { return std::exp(-theta_ * std::log(x)); }
  // Of the curve up to x, and its inverse; expm1 and log1p keep it exact around theta = 1.
  double integral(double x) const {
    const double log_x = std::log(x);
    const double t = (1 - theta_) * log_x;
    return (std::fabs(t) < 1e-8 ? 1 + t / 2 : std::expm1(t) / t) * log_x;
  }
  double inverse(double x) const {
    const double t = std::fmax(x * (1 - theta_), -1);
    return std::exp((std::fabs(t) < 1e-8 ? 1 - t / 2 : std::log1p(t) / t) * x);
  }

  double n_, theta_, first_, last_, sure_;
};

}  // namespace polder::bench
