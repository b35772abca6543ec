#include <linux/futex.h>
#include <time.h>

#include <cerrno>
#include <climits>

#include <polder/os/clock.hpp>
#include <polder/os/futex.hpp>
#include <polder/os/system_call.hpp>

namespace polder::os {

void sleep_on(const void* word, std::uint32_t seen) noexcept {
  const long slept = system_call(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  if (slept != 0 && slept != -EAGAIN && slept != -EINTR) system_call(SYS_sched_yield);
}

bool sleep_on_until(const void* word, std::uint32_t seen, std::int64_t time) noexcept {
  const timespec until{time_t(time / 1'000'000'000), long(time % 1'000'000'000)};
  const long slept =
      system_call(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  if (slept == 0 || slept == -EAGAIN || slept == -EINTR) return true;
  if (slept == -ETIMEDOUT) return false;
  system_call(SYS_sched_yield);
  return std::int64_t(nanoseconds(CLOCK_MONOTONIC)) < time;
}

// By a futex, which whoever filters system calls must let threads have.
void sleep_for(std::uint32_t milliseconds) noexcept {
  const atomic<std::uint32_t> nobody_wakes{0};
  const std::int64_t until = std::int64_t(nanoseconds(CLOCK_MONOTONIC)) + std::int64_t{milliseconds} * 1'000'000;
  while (sleep_on_until(&nobody_wakes, 0, until)) {
  }
}

void wake_one(const void* word) noexcept {
  system_call(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void wake_all(const void* word) noexcept {
  system_call(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace polder::os
