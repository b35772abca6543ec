#pragma once
// standstill — stops a thread at a step of helped_index_ring's slow path.
#include <semaphore>
#include <utility>

#include <polder/ds/parts/helped_index_ring.hpp>

namespace polder::ds {

// Where a thread stands still: the nth time it comes to a step of the slow path, until it is let go.
struct standstill {
  helped_step at;
  unsigned times;
  std::counting_semaphore<> there{0}, go_on{0};
};
struct parks {
  static inline thread_local standstill* mine = nullptr;
  static void at(helped_step s) noexcept {
    if (mine == nullptr || s != mine->at || mine->times-- != 0) return;
    standstill& still = *std::exchange(mine, nullptr);
    still.there.release();
    still.go_on.acquire();
  }
};
}  // namespace polder::ds
