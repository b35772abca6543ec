#pragma once
// thread_name — the kernel's number of a thread, and what the thread is called.
//
//   in malloc  yes; errno is kept
#include <cstdint>

namespace polder::os {

// The calling thread's; a system call. 0: the kernel does not say.
std::uint32_t own_thread_number() noexcept;

struct thread_name {
  char text[16] = "";  // as the kernel keeps it: 15 bytes and a 0
};

// Empty: there is no such thread in this process, or nobody says.
thread_name name_of_thread(std::uint32_t number) noexcept;

}  // namespace polder::os
