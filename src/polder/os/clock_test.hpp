#pragma once
// clock — the coarse clock, which reads what a test says. In one file of a program.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include <polder/sync/atomic.hpp>

namespace polder::os {

// Milliseconds; 0: what the kernel says.
//   order  relaxed: who is told another time is told by who has changed it
inline atomic<std::uint64_t> told_time{0};
// What happens when the calling thread has read it next. Null: nothing.
inline thread_local void (*after_look)() = nullptr;

// As long as it is there, the clock stands still but for who moves it.
struct own_time {
  explicit own_time(std::uint64_t milliseconds) { tell(milliseconds); }
  own_time(const own_time&) = delete;
  own_time& operator=(const own_time&) = delete;
  ~own_time() {
    tell(0);
    after_look = nullptr;
  }
  static void tell(std::uint64_t milliseconds) { told_time.store(milliseconds, order::relaxed); }
};

}  // namespace polder::os

extern "C" int clock_gettime(clockid_t of, timespec* into) noexcept {
  const std::uint64_t now = of == CLOCK_MONOTONIC_COARSE ? polder::os::told_time.load(polder::order::relaxed) : 0;
  if (now == 0) return int(::syscall(SYS_clock_gettime, of, into));
  *into = {.tv_sec = time_t(now / 1000), .tv_nsec = long(now % 1000 * 1'000'000)};
  if (polder::os::after_look != nullptr) std::exchange(polder::os::after_look, nullptr)();
  return 0;
}
