#pragma once
// reader — the part of a member that others ask to begin its reading anew, and how a read phase is run over it.
//
//   in malloc  no
//
// A read phase may be left anywhere and begun again: its frames are dropped, not unwound. So it may not allocate, lock, call
// the system, write to what others see, open guards or change what it captured; what it finds is its result. That the
// callable and the result need no destructor is checked when it is compiled; that it neither retires, makes nor opens a
// guard, in checked builds. An exception that leaves it ends the process.
#include <setjmp.h>
#include <sys/types.h>

#include <type_traits>
#include <utility>

#include <polder/base/config.hpp>
#include <polder/smr/misuse.hpp>
#include <polder/smr/neutral/neutraliser.hpp>
#include <polder/smr/neutral/read_phase.hpp>

namespace polder::smr {

class reader {
 public:
  read_phase phase;

  // ---- the owner ---------------------------------------------------------------------------------------------------

  // Runs read(view) in a phase: to its end at last. renew() before each new beginning.
  template <class Fences, class Renew, class View, class Read>
  POLDER_NOINLINE auto run(const Fences& fences, Renew renew, View view, Read read) noexcept {
    using result = std::remove_cv_t<decltype(read(view))>;
    static_assert(std::is_trivially_copyable_v<Read> && std::is_trivially_destructible_v<Read>,
                  "what a read phase captures is dropped without its destructor when the phase begins anew");
    static_assert(std::is_trivially_copyable_v<result> && std::is_trivially_destructible_v<result>,
                  "a read phase's result is dropped without its destructor when the phase begins anew");
    if (thread_.load(order::relaxed) != neutraliser::thread()) [[unlikely]]
      thread_.store(neutraliser::thread(), order::relaxed);
    neutraliser::frame here(phase);
    if (sigsetjmp(here.where, 0) == 0) {
      neutraliser::reads(&here);
      phase.begin();
    } else {
      renew();
      phase.again();
    }
    fences.light();
    const result found = read(view);
    signal_fence();
    phase.end();
    neutraliser::reads(nullptr);
    return found;
  }

  // In a phase, at each word that is protected.
  [[gnu::always_inline]] void poll() const noexcept {
    if constexpr (neutraliser::polls) {
      if (phase.asked()) neutraliser::restart();
    }
  }

  // ---- who reclaims ------------------------------------------------------------------------------------------------

  // Tells the owner to begin phase w anew. False: no signal can be sent, so the phase must end by itself.
  bool tell() const noexcept { return neutraliser::polls || neutraliser::send(thread_.load(order::relaxed)); }

 private:
  // thread_: the kernel's number of the owner. Written by it before it begins a phase, read by who saw it in one: so phase-
  // over orders it. If the thread has ended meanwhile, its phase is over, and another one passes the signal over.
  atomic<pid_t> thread_;
};

inline void not_reading([[maybe_unused]] std::string_view scheme, [[maybe_unused]] std::string_view what) noexcept {
#if POLDER_CHECK_LEVEL > 0
  if (neutraliser::reading()) misused(scheme, what);
#endif
}

}  // namespace polder::smr
