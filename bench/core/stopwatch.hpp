#pragma once
// stopwatch — the time of one call, in nanoseconds: the processor's time stamp counter where it runs at a constant rate,
// else clock_gettime. The fences keep the call between its two readings and the readings in their order.
#include <cstdint>
#include <string_view>

#include "core/measure.hpp"

namespace polder::bench {

class stopwatch {
 public:
  // Finds the rate of the counter, which takes 20 ms, and what a measurement of nothing shows.
  stopwatch();

  std::uint64_t begin() const {
#if defined(__x86_64__)
    if (constant_) {
      __builtin_ia32_lfence();
      const std::uint64_t now = __builtin_ia32_rdtsc();
      __builtin_ia32_lfence();
      return now;
    }
#endif
    return static_cast<std::uint64_t>(now_ns());
  }

  // Since `begin`.
  std::uint64_t end(std::uint64_t begin) const {
#if defined(__x86_64__)
    if (constant_) {
      unsigned processor = 0;
      const std::uint64_t now = __builtin_ia32_rdtscp(&processor);  // waits until the call has been executed
      __builtin_ia32_lfence();
      if (now <= begin) return 0;  // counters of two processors, a few ticks apart
      return static_cast<std::uint64_t>((static_cast<unsigned __int128>(now - begin) * rate_) >> 32);
    }
#endif
    return static_cast<std::uint64_t>(now_ns()) - begin;
  }

  // The median of measurements of nothing: what every measured time is too long by. Nothing is subtracted.
  std::uint64_t overhead_ns() const { return overhead_ns_; }
  std::string_view name() const { return constant_ ? "tsc" : "clock_gettime"; }

 private:
  bool constant_ = false;
  std::uint64_t rate_ = 0;  // nanoseconds a tick, times 2^32
  std::uint64_t overhead_ns_ = 0;
};

}  // namespace polder::bench
