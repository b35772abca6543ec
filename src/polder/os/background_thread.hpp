#pragma once
// background_thread — a thread of the library's own, which is there while it has something to do.
//
//   progress   start: wait-free but for its system calls
//   in malloc  yes; in a signal handler: yes
//
// It is the kernel's thread and not the C library's: pthread_create allocates and takes locks that whoever calls malloc may
// hold. So nobody joins it, the process ends without it, and setuid() does not reach it: its body asks shares_rights()
// whenever it has slept, and ends if it does not. It runs with all signals blocked, on a stack and thread-local storage
// that were mapped for it: its errno is its own, and every other thread-local variable of the library reads as zero there when it
// begins, whatever the one before it left. What it runs may make system calls and touch what threads share, no more.
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <polder/base/sanitizers.hpp>
#include <polder/os/background_id.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::os {

class background_thread {
 public:
  constexpr background_thread() noexcept = default;
  background_thread(const background_thread&) = delete;
  background_thread& operator=(const background_thread&) = delete;

  // Why the system would not have one, as errno tells it; 0: it has not refused.
  int refusal() const noexcept { return refusal_.load(order::relaxed); }

  // A while later: where there were too many threads or too little memory there may be room again. What is not allowed stays so.
  void try_again() noexcept {
    int why = refusal_.load(order::relaxed);
    if (why == EAGAIN || why == ENOMEM) refusal_.cas(why, 0, order::relaxed, order::relaxed);
  }

  [[gnu::always_inline]] bool runs() const noexcept { return id_.is_any(); }

  // Runs body(argument) unless one is there. False: one is, or the system refuses, now or before.
  bool start(void (*body)(void*), void* argument) noexcept;

  // In the child of a fork, where it is not.
  void forget() noexcept { id_.forget(); }

  // On that thread. False: the others have other users, groups or capabilities by now, or this cannot be known. Where root did not
  // start the process, and this thread has no capability, there are none to give up, and nothing more is looked at.
  static bool shares_rights() noexcept;

 private:
// Sanitizers look up a thread's state, of which this one has none.
#if POLDER_SANITIZED
  static constexpr bool is_possible = false;
#else
  static constexpr bool is_possible = true;
#endif
  bool map_once() noexcept;
  void clear_storage() noexcept;
  void point_at_itself() noexcept;
  static int run(void* self) noexcept;

  background_id id_;
  atomic<int> refusal_{is_possible ? 0 : ENOTSUP};  // written by who starts it, and by who tries again
  // The starter's, from id_.begin() until the kernel writes the number; the thread reads them before it runs its body.
  std::byte* memory_ = nullptr;
  std::size_t storage_at_ = 0;     // where in it the thread pointer points
  std::size_t storage_begin_ = 0;  // the stack lies below
  std::size_t bytes_ = 0;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
};

}  // namespace polder::os
