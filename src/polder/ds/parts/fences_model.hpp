#pragma once
// fences_model — parts/fences.hpp in the world of the model checker: the kernel refuses nothing.
#include <polder/sync/atomic.hpp>

namespace polder::ds {

class fences {
 public:
  fences() noexcept {}
  void light() const noexcept { signal_fence(); }
  [[nodiscard]] bool heavy() const noexcept { return model::heavy_fence(); }
};

}  // namespace polder::ds
