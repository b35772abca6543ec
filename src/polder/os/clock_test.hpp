#pragma once
// clock — the coarse clock, which reads what a test says.
#include <time.h>

#include <cstdint>
#include <utility>

#include <polder/os/clock_reader.hpp>
#include <polder/os/system_call.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::os {

// Milliseconds.
//   order  relaxed: who is told another time is told by who has changed it
inline atomic<std::uint64_t> told_time{0};
// What happens when the calling thread has read it next. Null: nothing.
inline thread_local void (*after_look)() = nullptr;

// As long as it is there, the clock stands still but for who moves it.
class own_time {
 public:
  explicit own_time(std::uint64_t milliseconds) {
    tell(milliseconds);
    clock_in_use.store(read, order::relaxed);
  }
  own_time(const own_time&) = delete;
  own_time& operator=(const own_time&) = delete;
  ~own_time() {
    clock_in_use.store(nullptr, order::relaxed);
    after_look = nullptr;
  }
  static void tell(std::uint64_t milliseconds) { told_time.store(milliseconds, order::relaxed); }

 private:
  static int read(clockid_t of, timespec* into) {
    if (of != CLOCK_MONOTONIC_COARSE) return int(system_call(SYS_clock_gettime, of, into));
    const std::uint64_t now = told_time.load(order::relaxed);
    *into = {.tv_sec = time_t(now / 1000), .tv_nsec = long(now % 1000 * 1'000'000)};
    if (after_look != nullptr) std::exchange(after_look, nullptr)();
    return 0;
  }
};

}  // namespace polder::os
