#include <polder/os/errno_keeper.hpp>
#include <polder/os/heavy_fence.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace polder::os {

bool register_heavy_fence() noexcept {
  const errno_keeper keep;
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool heavy_fence() noexcept {
  const errno_keeper keep;
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace polder::os
