#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <polder/os/errno_keeper.hpp>
#include <polder/os/futex.hpp>

namespace polder::os {

void sleep_on(const void* word, std::uint32_t seen) noexcept {
  const errno_keeper keep;
  const long slept = ::syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  if (slept != 0 && errno != EAGAIN && errno != EINTR) ::syscall(SYS_sched_yield);
}

void wake_one(const void* word) noexcept {
  const errno_keeper keep;
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace polder::os
