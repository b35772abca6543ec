#pragma once
// host — what the heap asks of the process it serves: a word for each thread, the options, the end of a thread, fork.
//
//   in malloc  yes; everything here is called from the heap's slow paths, except current_lab()
//   TLS        initial-exec, 16 bytes, and 16 of os/timeline.hpp: a preloaded library may count on that much, and one opened by
//              dlopen too
#include <cstdint>

#include <polder/heap/options.hpp>

namespace polder::face {

// The end of a thread. glibc runs the destructors of thread-specific data in at most PTHREAD_DESTRUCTOR_ITERATIONS
// rounds, and a destructor may allocate in any of them, after ours; whether another round comes for ours cannot be
// known. So the LAB is given up in the first, and from then on the thread is `gone`: it settles no more, and each of its
// operations borrows a LAB for as long as it lasts.
//
//              heap calls watch_thread_exit          first round of destructors
//   unwatched ─────────────────────────────▶ watched ──────────────────────────▶ gone
//                                            (C++ thread_local destructors run before)
struct thread_words {
  void* lab = nullptr;  // the heap's; owner only
  bool gone = false;    // owner only
  bool told = false;    // it is in a callback of the user's; owner only
};

// NOLINTNEXTLINE: 16 bytes a thread; os/linux/timeline.cpp has as many, and nobody else any
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local thread_words this_thread;

class host {
 public:
  template <class Lab>
  [[gnu::always_inline]] static Lab*& current_lab() noexcept {
    return reinterpret_cast<Lab*&>(this_thread.lab);
  }

  // Where every thread begins: a LAB behind a door that is closed. Nothing is ever in it.
  template <class Lab>
  static inline constinit Lab nobody{};

  // False once the calling thread's exit is behind it.
  static bool may_settle() noexcept { return !this_thread.gone; }

  // POLDER_OPTIONS, or the defaults where it may not be heard. A mistake in it ends the process with status 2.
  static const heap::options& configured() noexcept;

  // leave_thread() will be called when this thread ends. False: it will not (the thread is past that, or has no key).
  static bool watch_thread_exit() noexcept;

  // Once, when the heap stands.
  static void installed() noexcept;
};

}  // namespace polder::face
