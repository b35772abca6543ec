#pragma once
// random — a number for each thread's next choice, cheap and not secret: Marsaglia's xorshift64*, its upper half.
//
//   progress   wait-free
//
// Each thread begins somewhere else. random::seed() lets the calling thread repeat what it did.
//
// In the world of the model checker: random_model.hpp.
#if defined(POLDER_MODEL)
#include <polder/ds/parts/random_model.hpp>
#else
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

class random {
 public:
  static std::uint32_t next() noexcept {
    std::uint64_t x = state_;
    if (x == 0) [[unlikely]]
      x = begun();
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    state_ = x;
    return std::uint32_t(x * 0x2545'f491'4f6c'dd1d >> 32);
  }
  // One of 0 … n - 1.
  static std::uint32_t below(std::uint32_t n) noexcept { return within(next(), n); }
  static constexpr std::uint32_t within(std::uint32_t r, std::uint32_t n) noexcept {
    return std::uint32_t(std::uint64_t(r) * n >> 32);
  }

  static void seed(std::uint64_t s) noexcept { state_ = mixed(s); }

 private:
  static std::uint64_t begun() noexcept { return mixed(threads_.fetch_add(1, order::relaxed)); }
  // Never zero, from which there is no way on.
  static constexpr std::uint64_t mixed(std::uint64_t n) noexcept {
    n = (n + 1) * 0x9e37'79b9'7f4a'7c15;
    n = (n ^ n >> 30) * 0xbf58'476d'1ce4'e5b9;
    return (n ^ n >> 27) | 1;
  }

  static constinit inline thread_local std::uint64_t state_ = 0;
  static constinit inline atomic<std::uint64_t> threads_{0};  // threads that began. Any order: only to differ
};

}  // namespace polder::ds

#endif
