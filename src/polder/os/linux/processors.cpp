#include <polder/os/processors.hpp>
#include <polder/os/system_call.hpp>

namespace polder::os {

unsigned processors() noexcept {
  constexpr unsigned most = 8192;  // the kernel refuses where it has more, and is built for so many at most
  unsigned long mask[most / (8 * sizeof(unsigned long))] = {};
  const long bytes = system_call(SYS_sched_getaffinity, 0, sizeof mask, mask);
  unsigned count = 0;
  for (long i = 0; i < bytes / long(sizeof mask[0]); ++i) count += unsigned(__builtin_popcountl(mask[i]));
  return count != 0 ? count : 1;
}

}  // namespace polder::os
