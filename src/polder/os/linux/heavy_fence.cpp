#include <polder/os/heavy_fence.hpp>
#include <polder/os/system_call.hpp>

#include <linux/membarrier.h>

namespace polder::os {

bool register_heavy_fence() noexcept {
  return system_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool heavy_fence() noexcept { return system_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0; }

}  // namespace polder::os
