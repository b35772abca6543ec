#pragma once
// ticks — the processor's counter of time: one instruction, the same rate and origin on every processor.
//
//   in malloc  yes; in signal  yes
//
// Its unit is the machine's; a pair of readings beside a clock tells how long a tick is. rdtsc is not ordered with the
// instructions around it: some tens of them may lie on the other side, which is less than the reading itself takes.
#include <cstdint>

#include <polder/os/clock.hpp>

namespace polder::os {

[[gnu::always_inline]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t n;
  asm volatile("mrs %0, cntvct_el0" : "=r"(n));
  return n;
#else
  return nanoseconds(CLOCK_MONOTONIC);
#endif
}

// The same, behind all that was done before, which others can see by then, and before all that comes after.
[[gnu::always_inline]] inline std::uint64_t ordered_ticks() noexcept {
#if defined(__x86_64__)
  std::uint32_t low, high, processor;
  asm volatile("mfence\n\trdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(processor) : : "memory");
  return std::uint64_t{high} << 32 | low;
#elif defined(__aarch64__)
  std::uint64_t n;
  asm volatile("dmb ish\n\tisb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(n) : : "memory");
  return n;
#else
  return ticks();  // a call
#endif
}

}  // namespace polder::os
