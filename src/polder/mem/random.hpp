#pragma once
// random — numbers that a program's input does not predict, for where blocks lie and which go first. Not for keys: who sees
// many of them can compute the next.
//
//   paper      Steele, Lea, Flood 2014 (SplitMix): a counter, mixed
#include <cstdint>

namespace polder::mem {

class random {
 public:
  constexpr void seed(std::uint64_t s) noexcept { state_ = s; }

  constexpr std::uint64_t next() noexcept {
    std::uint64_t x = state_ += 0x9e37'79b9'7f4a'7c15;
    x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ x >> 27) * 0x94d0'49bb'1331'11eb;
    return x ^ x >> 31;
  }

  // 0 … n - 1, each as likely as any other but for one part in 2^32 / n. n > 0.
  constexpr std::uint32_t below(std::uint32_t n) noexcept { return std::uint32_t((next() >> 32) * n >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace polder::mem
