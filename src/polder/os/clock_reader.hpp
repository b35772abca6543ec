#pragma once
// clock_reader — what reads the kernel's clocks: its own function in the vDSO, or where there is none the system call.
#include <time.h>

#include <polder/sync/atomic.hpp>

namespace polder::os {

// 0, or -errno. errno is kept.
using clock_reader = int(clockid_t of, timespec* into);

// Of the process; null until it is looked for. Written by who reads a clock and finds it null, any number at once, and they all find
// the same; read by each who reads a clock.
//   order  relaxed: the function it points to has been there from the beginning, and is there in a child
extern constinit atomic<clock_reader*> clock_in_use;

}  // namespace polder::os
