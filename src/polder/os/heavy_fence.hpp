#pragma once
// heavy_fence — makes every running thread of the process pass a full memory barrier, so that the other side of a
// store-load pair can do with a compiler fence (sync/atomic.hpp, signal_fence).
//
//   membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED: a few microseconds, interrupts the processors that run us
//   in malloc  yes; errno is kept

namespace polder::os {

// Once per process (and again in a forked child is harmless). False: the kernel or a filter refuses; then heavy_fence
// must not be called and nothing may rely on light fences.
bool register_heavy_fence() noexcept;

// False: refused after all; the caller must assume that no barrier took place.
bool heavy_fence() noexcept;

}  // namespace polder::os
