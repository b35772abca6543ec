#pragma once
// poisson — the arithmetic of sampling by bytes: each byte that is allocated is drawn with the same small chance, whatever was
// drawn before it, and a block is a sample if one of its bytes is. So a program cannot get into step with the sampling.
//
//   paper      the Poisson process; sampled heaps: tcmalloc's design, docs "sampling"
//   in malloc  yes: no library's logarithm
#include <bit>
#include <cstddef>
#include <cstdint>

#include <polder/mem/random.hpp>

namespace polder::mem {

// ln x for x in [1, 2): the series of the area hyperbolic tangent, to 10^-7.
constexpr double logarithm_of_mantissa(double x) noexcept {
  const double y = (x - 1) / (x + 1), z = y * y;
  return 2 * y * (1 + z * (1 / 3.0 + z * (1 / 5.0 + z * (1 / 7.0 + z * (1 / 9.0 + z * (1 / 11.0))))));
}

// How many bytes from one byte that is drawn to the next: exponentially distributed with this mean, in whole bytes. At least 1: the
// byte that is reached is the one that is drawn. So a block of n bytes has it by chance_of_sample(n, mean), also where both are few.
// At most 2^62 and 1, which nobody ever reaches.
inline std::int64_t bytes_to_next_sample(random& r, std::uint64_t mean) noexcept {
  constexpr double ln_2 = 0.693147180559945309;
  const double u = double(r.next() >> 11 | 1);  // 1 … 2^53, of which −ln(u / 2^53) is wanted
  const auto bits = std::bit_cast<std::uint64_t>(u);
  const int exponent = int(bits >> 52) - 1023;
  const double mantissa = std::bit_cast<double>((bits & ~(0xfffull << 52)) | 1023ull << 52);
  const double drawn = (53 - exponent) * ln_2 - logarithm_of_mantissa(mantissa);
  constexpr double most = 0x1p62;
  const double bytes = drawn * double(mean);
  return 1 + std::int64_t(bytes < most ? bytes : most);
}

// The chance that a block of n bytes is a sample: 1 − e^(−n / mean).
constexpr double chance_of_sample(std::size_t n, std::uint64_t mean) noexcept {
  double x = double(n) / double(mean);
  if (x > 40) return 1;
  unsigned halvings = 0;
  while (x > 1.0 / 64) x /= 2, ++halvings;
  double chance = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
  for (; halvings != 0; --halvings) chance = chance * (2 - chance);  // of two halves
  return chance;
}

// Whether a sample of `before` bytes is one of those that a block of n bytes, which are fewer, would be.
inline bool is_sample_still(random& r, std::size_t before, std::size_t n, std::uint64_t mean) noexcept {
  return double(r.next() >> 11) * 0x1p-53 * chance_of_sample(before, mean) < chance_of_sample(n, mean);
}

}  // namespace polder::mem
