#pragma once
// advice — madvise, in the middle of which another thread does something. In one file of a program.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace polder::os {

// What happens before the kernel hears the next advice. Null: nothing.
inline void (*before_advice)() = nullptr;

}  // namespace polder::os

extern "C" int madvise(void* p, std::size_t bytes, int what) noexcept {
  if (auto* const then = polder::os::before_advice) {
    polder::os::before_advice = nullptr;
    then();
  }
  return int(::syscall(SYS_madvise, p, bytes, what));
}
