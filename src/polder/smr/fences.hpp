#pragma once
// fences — the two sides of an asymmetric store-load order, or two full fences where the kernel refuses membarrier(2).
//
// A reader stores that it is inside and then reads; whoever reclaims unlinks and then reads who is inside. Without a
// fence between store and load both may miss each other (Dekker). The reader's side is executed in each operation, the
// reclaimer's once in many: so the reader's is a compiler fence, and the reclaimer makes all processors pass a barrier.
//
// Why that is enough: the reclaimer's barrier falls, on the reader's processor, either after the reader's store, which is
// then visible before the reclaimer looks, or before its loads, which then see all that was written before the barrier.
#include <polder/os/heavy_fence.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class fences {
 public:
  enum class choice { as_the_kernel_allows, symmetric };

  explicit fences(choice wanted = choice::as_the_kernel_allows) noexcept
      : asymmetric_(wanted == choice::as_the_kernel_allows && os::register_heavy_fence()) {}

  [[gnu::always_inline]] void light() const noexcept {
    if (asymmetric_) [[likely]] {
      signal_fence();
    } else {
      fence(order::seq_cst);  // sync: inside-or-unlinked: the reader's side, see above
    }
  }

  // False: the kernel refuses what it allowed before; nothing may be concluded from what is read next.
  [[nodiscard]] bool heavy() const noexcept {
    fence(order::seq_cst);  // sync: inside-or-unlinked: the reclaimer's side, see above
    if (!asymmetric_) return true;
    return os::heavy_fence() || (os::register_heavy_fence() && os::heavy_fence());
  }

  bool asymmetric() const noexcept { return asymmetric_; }

 private:
  const bool asymmetric_;
};

}  // namespace polder::smr
