#pragma once
// without_signals — while no handler may run on the calling thread: every signal waits, the C library's own too.
//
//   in malloc  yes: raw calls; in a signal handler: yes
#include <signal.h>

#include <cstdint>

#include <polder/os/system_call.hpp>

namespace polder::os {

class without_signals {
 public:
  without_signals() noexcept
      : refused_(int(-system_call(SYS_rt_sigprocmask, SIG_SETMASK, &all_, &before_, sizeof all_))) {}
  ~without_signals() {
    if (refused_ == 0) system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

  // errno; 0: there are none.
  int refused() const noexcept { return refused_; }

 private:
  const std::uint64_t all_ = ~std::uint64_t{0};
  std::uint64_t before_ = 0;
  const int refused_;
};

}  // namespace polder::os
