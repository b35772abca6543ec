#pragma once
// lost_move — mremap as kernels refuse it that have unmapped the destination first: at a limit of memory, say. In one file of
// a program.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

namespace polder::os {

// What happens at the destination of the next move, which is refused then: another thread may be there at once. Null: nothing,
// and moves are the kernel's.
inline void (*when_lost)(void* to, std::size_t bytes) = nullptr;

}  // namespace polder::os

extern "C" void* mremap(void* from, std::size_t old_bytes, std::size_t new_bytes, int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  if (auto* const then = polder::os::when_lost; to != nullptr && then != nullptr) {
    polder::os::when_lost = nullptr;
    ::syscall(SYS_munmap, to, new_bytes);
    then(to, new_bytes);
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(::syscall(SYS_mremap, from, old_bytes, new_bytes, flags, to));
}
