#pragma once
// futex — threads that sleep on a word, and the lock that does so.
//
//   in malloc  yes; each call is one system call, and only under contention
//   errors     where the kernel or a filter refuses, a sleeper gives the processor away and looks again; errno is kept
#include <cstdint>

#include <polder/sync/owned_lock.hpp>

namespace polder::os {

// Sleeps while the word is `seen`, until it is woken; may return for no reason.
void sleep_on(const void* word, std::uint32_t seen) noexcept;

// The same, until a time of CLOCK_MONOTONIC in nanoseconds at the latest. False: that time has come.
bool sleep_on_until(const void* word, std::uint32_t seen, std::int64_t time) noexcept;

// Sleeps for so long, whatever happens.
void sleep_for(std::uint32_t milliseconds) noexcept;

// Wakes one that sleeps on the word, or all.
void wake_one(const void* word) noexcept;
void wake_all(const void* word) noexcept;

// The calling thread, while it lives and in its child after a fork: no other thread of the process has the same.
// Taken from the address of its thread block, a multiple of 64: two that are 2^36 bytes apart would be alike.
inline owned_lock::mark thread_mark() noexcept {
  const auto block = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  return owned_lock::mark(block >> 5 & ~owned_lock::waited_for) | 1;
}

inline void lock(owned_lock& l) noexcept {
  l.lock(thread_mark(), [&l](owned_lock::mark seen) { sleep_on(l.word(), seen); });
}
inline void unlock(owned_lock& l) noexcept {
  l.unlock([&l] { wake_one(l.word()); });
}

// Holds the lock as long as it lives.
class [[nodiscard]] holding {
 public:
  explicit holding(owned_lock& l) noexcept : lock_(l) { lock(l); }
  ~holding() { unlock(lock_); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  owned_lock& lock_;
};

}  // namespace polder::os
