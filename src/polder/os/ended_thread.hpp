#pragma once
// ended_thread — whether a thread that the kernel once numbered is still there.
//
//   in malloc  yes; each call is a system call or two, made raw; errno is kept
//
// Who is told that a thread has ended may rely on it: a thread loses its number after it has done its last instruction. Who is
// told that it has not, may be told of another that was given the number since; or of the main thread, which keeps its number
// until the process ends; or the kernel, or a filter, does not answer.
#include <cstdint>

namespace polder::os {

// The process that the calling thread belongs to. The kernel is asked, for a child may have been made without the C library
// being told, and may even share all memory with its parent, as vfork's does. 0: the kernel does not say.
std::uint32_t own_process_number() noexcept;

// Has the thread of this process that had the number ended? True only where `process` is still the caller's: of another one's
// threads a thread knows nothing.
bool has_ended(std::uint32_t process, std::uint32_t thread) noexcept;

}  // namespace polder::os
