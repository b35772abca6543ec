#pragma once
// cgroup — how much memory the container leaves: the limits of the control group this process is in, and of those above it.
//
//   in malloc  yes: no allocation, raw open and read; a dozen system calls, so once a process
//   errors     what cannot be read is no limit, never a failure
//
//   /proc/self/cgroup                        which group, of version 1 (memory) and 2
//   /sys/fs/cgroup, …/unified, …/memory      where it is looked for first; /proc/self/mountinfo tells of other places,
//                                            and of several the first that holds the group, or else the first, is taken
//   memory.max, memory.high                  of version 2; `max` is none. Above `high` the kernel slows us down and takes pages
//   memory.limit_in_bytes                    of version 1, which alone is looked at where it has the memory controller; a number
//                                            that no machine has is none
//
// Inside a container what lies above its own group is not visible, and its parent's limits are not known.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace polder::os {

inline constexpr std::size_t no_limit = SIZE_MAX;

// The smallest of them, no_limit if there is none. A test may put a tree of its own in place of /.
std::size_t cgroup_memory_limit(std::string_view root = {}) noexcept;

}  // namespace polder::os
