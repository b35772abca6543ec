#pragma once
// await_end — who joins a thread is told when its memory is no longer needed, a little before the kernel forgets its number.
#include <sched.h>

#include <polder/os/ended_thread.hpp>

namespace polder::os {

inline void await_end(std::uint32_t thread) {
  while (!has_ended(own_process_number(), thread)) ::sched_yield();
}

}  // namespace polder::os
