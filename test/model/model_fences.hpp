#pragma once
// model_fences — smr/fences.hpp in the world of the model checker.
#include <polder/sync/atomic.hpp>

namespace polder::model {

struct fences {
  void light() const { signal_fence(); }
  [[nodiscard]] bool heavy() const { return heavy_fence(); }
};

// Another thread may run here. An access to plain<T> is no such point, and what was read before a barrier that all threads
// pass together is ordered before it: who is to be caught reading late is held up first.
inline void pause_point() { rl::ctx().sched(); }

// In each world in which membarrier(2) can be modelled; see sync/atomic_model.hpp.
inline constexpr membarrier_world worlds[] = {membarrier_world::paired, membarrier_world::systemwide};

}  // namespace polder::model
