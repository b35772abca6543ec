#pragma once
// scatter — the numbers below n in another order, in which neighbours are far apart: times a number that has no divisor in
// common with n, modulo n. So each is there once, and what was drawn by a distribution still is.
#include <cstdint>
#include <numeric>

namespace polder::bench {

class scatter {
 public:
  explicit scatter(std::uint64_t n) : n_(n), by_(n - static_cast<std::uint64_t>(static_cast<double>(n) * 0.382)) {
    while (std::gcd(by_, n_) != 1) ++by_;
  }
  std::uint64_t operator()(std::uint64_t k) const {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(k) * by_ % n_);
  }

 private:
  std::uint64_t n_, by_;
};

}  // namespace polder::bench
