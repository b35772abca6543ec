#pragma once
// clock — milliseconds that only go forwards, a few nanoseconds a reading, as coarse as the kernel's tick.
#include <time.h>

#include <cstdint>

namespace polder::os {

constexpr std::uint32_t coarse_tick_milliseconds = 10;  // at most

inline std::uint64_t coarse_milliseconds() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::uint64_t(now.tv_sec) * 1000 + std::uint64_t(now.tv_nsec) / 1'000'000;
}

}  // namespace polder::os
