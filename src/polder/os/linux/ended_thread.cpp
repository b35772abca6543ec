#include <polder/os/ended_thread.hpp>
#include <polder/os/system_call.hpp>

#include <cerrno>

namespace polder::os {

std::uint32_t own_process_number() noexcept {
  const long number = system_call(SYS_getpid);
  return number > 0 ? std::uint32_t(number) : 0;
}

// The signal 0 is not sent. Asked with the process, so that a thread of another one that was given the number since is none.
bool has_ended(std::uint32_t process, std::uint32_t thread) noexcept {
  if (system_call(SYS_tgkill, process, thread, 0) != -ESRCH) return false;
  return own_process_number() == process;
}

}  // namespace polder::os
