#pragma once
// measure — clocks and counters of this process. Nothing here allocates.
#include <cstdint>

namespace polder::bench {

std::int64_t now_ns();

// The processor time of the calling thread: what others on its core do is not in it.
std::int64_t thread_ns();

struct usage {
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;

  friend usage operator-(const usage& a, const usage& b) {
    return {a.user_ns - b.user_ns, a.system_ns - b.system_ns, a.minor_faults - b.minor_faults,
            a.major_faults - b.major_faults};
  }
};
usage usage_now();

// A line of /proc/self/status in KiB, such as "VmHWM:" (exact peak RSS) and "VmRSS:"; -1 where there is none.
std::int64_t status_kb(const char* field);

// From here on VmHWM is the peak of what follows, not of all there was. False where the kernel cannot forget.
[[nodiscard]] bool begin_peak();

// What is resident now, in bytes; cheaper than a line of status.
std::int64_t rss_bytes();

}  // namespace polder::bench
