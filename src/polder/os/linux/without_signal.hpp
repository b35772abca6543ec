#pragma once
// without_signal — while a file is written: one that grows beyond RLIMIT_FSIZE, or a pipe that nobody reads, is an error and no
// signal.
//
//   in malloc  yes: raw calls; in a signal handler: yes
#include <signal.h>
#include <time.h>

#include <cstdint>

#include <polder/os/system_call.hpp>

namespace polder::os {

// It would kill, unless it is blocked; then it is taken back.
class without_signal {
 public:
  explicit without_signal(int number) noexcept : set_(std::uint64_t{1} << (number - 1)) {
    system_call(SYS_rt_sigprocmask, SIG_BLOCK, &set_, &before_, sizeof set_);
  }
  ~without_signal() {
    if ((before_ & set_) != 0) return;
    const timespec none{};
    system_call(SYS_rt_sigtimedwait, &set_, nullptr, &none, sizeof set_);
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof set_);
  }
  without_signal(const without_signal&) = delete;
  without_signal& operator=(const without_signal&) = delete;

 private:
  const std::uint64_t set_;
  std::uint64_t before_ = 0;
};

}  // namespace polder::os
