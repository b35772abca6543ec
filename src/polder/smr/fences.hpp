#pragma once
// fences — the two sides of an asymmetric store-load order, or two full fences where the kernel refuses membarrier(2).
//
// A reader stores that it is inside and then reads; whoever reclaims unlinks and then reads who is inside. Without a
// fence between store and load both may miss each other (Dekker). The reader's side is executed in each operation, the
// reclaimer's once in many: so the reader's is a compiler fence, and the reclaimer makes all processors pass a barrier.
//
// Why that is enough: the reclaimer's barrier falls, on the reader's processor, either after the reader's store, which is
// then visible before the reclaimer looks, or before its loads, which then see all that was written before the barrier.
//
// What the kernel allowed it may refuse later, for a filter that was installed since. Readers have light fences then, and
// some may be in the middle of one; so the reclaimer goes from processor to processor, as long as it may.
#include <polder/os/heavy_fence.hpp>
#include <polder/os/processor_tour.hpp>
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
    const bool passed =
        os::heavy_fence() || (os::register_heavy_fence() && os::heavy_fence()) || os::tour_processors();
    if (!passed) refusals_.fetch_add(1, order::relaxed);
    else if (refusals_.load(order::relaxed) != 0) refusals_.store(0, order::relaxed);
    return passed;
  }

  // Whether it was refused again and again, and not for want of memory in a moment.
  bool refused_for_good() const noexcept { return refusals_.load(order::relaxed) >= for_good; }

  bool asymmetric() const noexcept { return asymmetric_; }

 private:
  static constexpr unsigned for_good = 1000;
  const bool asymmetric_;
  // refusals_: how many of heavy() in a row, roughly. Written by who calls that, read by who waits for a barrier.
  mutable atomic<unsigned> refusals_;
};

}  // namespace polder::smr
