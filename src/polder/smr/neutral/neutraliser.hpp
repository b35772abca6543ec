#pragma once
// neutraliser — the signal by which a thread in a read phase is told to begin it anew.
//
//   progress   send: wait-free. install: under a lock, once
//   in malloc  no
//
// One real-time signal of the process: the highest that nobody had a handler for when the first domain was made; if all
// had one, the highest, and what is not ours goes to the handler that was there. The handler makes no system call, and
// changes nothing but where its thread goes on. It blocks all signals while it runs, runs on an alternate stack where the
// thread has one, and interrupted system calls of a thread that is not reading are restarted: but for those that Linux
// restarts after no handler (signal(7): poll, nanosleep, …), which return EINTR where the signal comes late.
//
// A handler of the program's own that is interrupted by this signal on top of a read phase would never be finished. One
// that must be adds neutraliser::signal() to its sa_mask.
//
// Where a signal cannot do it the reader asks itself, at each word it protects (`polls`): under ThreadSanitizer, which
// keeps signals back until the next system call, and could not be left in the middle of its own work; and on machines
// without resume_at.
#include <setjmp.h>
#include <sys/types.h>

#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/base/sanitizers.hpp>
#include <polder/smr/neutral/read_phase.hpp>
#include <polder/smr/neutral/resume_at.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class neutraliser {
 public:
#if POLDER_TSAN
  static constexpr bool polls = true;
#else
  static constexpr bool polls = !can_resume_elsewhere;
#endif

  // A read phase that is being run: on its thread's stack.
  struct frame {
    [[gnu::always_inline]] explicit frame(const read_phase& p) noexcept : phase(&p), stack(stack_here()) {}
    frame(const frame&) = delete;
    frame& operator=(const frame&) = delete;
    sigjmp_buf where;
    const read_phase* const phase;
    const std::uintptr_t stack;  // of the function that runs the phase: all below it is dropped when it is left
  };

  // Once, and again is harmless.
  static void install() noexcept;
  static int signal() noexcept;  // 0: none can be sent

  // The calling thread's frame, or null. Its handler reads it.
  [[gnu::always_inline]] static void reads(frame* f) noexcept {
    signal_fence();
    self_.reads.store(f, order::relaxed);
    signal_fence();
  }
  static bool reading() noexcept { return self_.reads.load(order::relaxed) != nullptr; }

  // The kernel's number of the calling thread. The first call of a thread unblocks the signal.
  [[gnu::always_inline]] static pid_t thread() noexcept {
    const pid_t known = self_.thread;
    return known != 0 ? known : enlist();
  }

  // To one of this process's threads, whatever it does. False: the kernel refused; or there is no such thread any more.
  static bool send(pid_t thread) noexcept;

  // By the calling thread itself, where it was asked and no signal does it.
  [[noreturn]] static void restart() noexcept;

 private:
  friend struct neutraliser_state;
  struct self {
    atomic<frame*> reads;  // the thread's own, and its handler's: no order but the compiler's
    pid_t thread = 0;      // 0: not known yet
  };
  POLDER_NOINLINE static pid_t enlist() noexcept;
  // initial-exec: a handler may touch it that no other code of the thread has touched before.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local self self_;
};

}  // namespace polder::smr
