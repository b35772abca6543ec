#pragma once
// backtrace — which calls led here: the return addresses on the calling thread's stack, from call frame information.
//
//   progress   wait-free: a bounded number of steps a frame; the C library finds the object of an address without locks
//   in malloc  yes; in signal  yes: about four KiB of stack; nothing is allocated, errno is kept
//   cost       a fifth of a microsecond a frame, and a system call a page of stack: 1.0 to 1.5 times what glibc's backtrace() takes
//                (2026-11-24)
//   errors     what cannot be understood ends the trace. Assembly with wrong call frame information may add nonsense to it or
//                cut it short, but does not make it read a stack where nothing can be read
//
// The C library's part is _dl_find_object, glibc 2.35 and later. Without it, as in static programs, it follows frame pointers,
// which only programs built with -fno-omit-frame-pointer have.
//
// The tables of an object are read without asking: that they stay while they are follows from its code being called. Who unloads
// a library which a thread is still in has lost that thread anyway.
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/os/activation.hpp>

namespace polder::os {

// Before the first backtrace, outside of signal handlers: looks for what the C library offers, and may wait for a dlopen or
// dlclose that runs in another thread. Until then there are frame pointers only.
void prepare_backtraces() noexcept;

// The return addresses of the caller's callers, innermost first, but for the first `skip` of them, into frames[0 .. most).
// How many there are. A return address lies behind its call, at worst in another function; where a signal stopped a function
// it is the instruction that comes next.
//
// A function that ends in a call of this one may be left before it (a tail call), and is then missing in the chain.
POLDER_NOINLINE unsigned backtrace(void** frames, unsigned most, unsigned skip) noexcept;

// From a known activation, which is itself the first frame. Call frame information only.
unsigned backtrace_from(const activation& from, void** frames, unsigned most, unsigned skip) noexcept;

// By frame pointers only. `record` is what one of them points to: the caller's, and behind that the first return address.
unsigned backtrace_by_frame_pointers(const void* record, void** frames, unsigned most, unsigned skip) noexcept;

}  // namespace polder::os
