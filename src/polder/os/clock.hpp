#pragma once
// clock — the kernel's clocks, a few nanoseconds a reading.
//
//   progress   wait-free
//   in malloc  yes; in a signal handler: yes
//
// The C library's clock_gettime is what libraries replace that fake the time: theirs may call malloc, and a thread that sleeps until
// a time of theirs would sleep for ever.
#include <time.h>

#include <cstdint>

namespace polder::os {

// Where a filter refuses it: zero.
void read_clock(clockid_t of, timespec& into) noexcept;

constexpr std::uint32_t coarse_tick_milliseconds = 10;  // at most

// They only go forwards, as coarse as the kernel's tick.
inline std::uint64_t coarse_milliseconds() noexcept {
  timespec now;
  read_clock(CLOCK_MONOTONIC_COARSE, now);
  return std::uint64_t(now.tv_sec) * 1000 + std::uint64_t(now.tv_nsec) / 1'000'000;
}

inline std::uint64_t nanoseconds(clockid_t of) noexcept {
  timespec now;
  read_clock(of, now);
  return std::uint64_t(now.tv_sec) * 1'000'000'000 + std::uint64_t(now.tv_nsec);
}

}  // namespace polder::os
