#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include <polder/os/errno_keeper.hpp>
#include <polder/os/futex.hpp>

namespace polder::os {

void sleep_on(const void* word, std::uint32_t seen) noexcept {
  const errno_keeper keep;
  const long slept = ::syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  if (slept != 0 && errno != EAGAIN && errno != EINTR) ::syscall(SYS_sched_yield);
}

bool sleep_on_until(const void* word, std::uint32_t seen, std::int64_t time) noexcept {
  const errno_keeper keep;
  const timespec until{time_t(time / 1'000'000'000), long(time % 1'000'000'000)};
  const long slept =
      ::syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  if (slept == 0 || errno == EAGAIN || errno == EINTR) return true;
  if (errno == ETIMEDOUT) return false;
  ::syscall(SYS_sched_yield);
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec < time;
}

// By a futex, which whoever filters system calls must let threads have.
void sleep_for(std::uint32_t milliseconds) noexcept {
  const atomic<std::uint32_t> nobody_wakes{0};
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t until = (std::int64_t{now.tv_sec} * 1000 + milliseconds) * 1'000'000 + now.tv_nsec;
  while (sleep_on_until(&nobody_wakes, 0, until)) {
  }
}

void wake_one(const void* word) noexcept {
  const errno_keeper keep;
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void wake_all(const void* word) noexcept {
  const errno_keeper keep;
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace polder::os
