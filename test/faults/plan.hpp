#pragma once
// plan — which of the system calls of a heap are made to fail. Two feeders ask it: the interposer (calls through libc's
// functions, from the very first) and the notifier (every call that reaches the kernel, after main has begun).
#include <atomic>
#include <cerrno>
#include <climits>

namespace polder::faults {

enum class call : int { map, unmap, protect, advise, remap, barrier, random, count };
inline constexpr int calls = int(call::count);
inline constexpr const char* call_name[calls] = {"mmap",   "munmap",     "mprotect", "madvise",
                                                 "mremap", "membarrier", "getrandom"};

inline constexpr int go_on = 0;            // let the call through
inline constexpr int without_effect = -1;  // say it succeeded and do nothing

struct rule {
  std::atomic<int> error{go_on};  // an errno, or `without_effect`
  std::atomic<long> first{1};     // the calls numbered first…last, counted from `seen == 0`
  std::atomic<long> last{0};
  std::atomic<long> seen{0};
  std::atomic<long> refused{0};
};

inline constinit rule rules[calls];

// A mock of a narrow machine: addresses from `low` upwards alone are handed out, `high` is never reached; 0 is off.
inline constinit std::atomic<unsigned long> narrow_next{0}, narrow_end{0};

inline rule& of(call c) { return rules[int(c)]; }

// What becomes of this occurrence of c.
inline int decide(call c) {
  rule& r = of(c);
  long n = r.seen.fetch_add(1, std::memory_order_relaxed) + 1;
  if (n < r.first.load(std::memory_order_relaxed) || n > r.last.load(std::memory_order_relaxed)) return go_on;
  int error = r.error.load(std::memory_order_relaxed);
  if (error != go_on) r.refused.fetch_add(1, std::memory_order_relaxed);
  return error;
}

inline void arm(call c, int error, long first, long last = LONG_MAX) {
  rule& r = of(c);
  r.last.store(0, std::memory_order_relaxed);
  r.seen.store(0, std::memory_order_relaxed);
  r.refused.store(0, std::memory_order_relaxed);
  r.error.store(error, std::memory_order_relaxed);
  r.first.store(first, std::memory_order_relaxed);
  r.last.store(last, std::memory_order_relaxed);
}

inline void disarm() {
  for (auto& r : rules) r.last.store(0, std::memory_order_relaxed);
}

inline void count_anew() {
  for (auto& r : rules) r.seen.store(0, std::memory_order_relaxed);
}

}  // namespace polder::faults
