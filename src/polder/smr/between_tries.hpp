#pragma once
// between_tries — what who can do nothing without a barrier does when the kernel refuses it: tries again, but not for ever.
#include <sched.h>

#include <polder/smr/misuse.hpp>

namespace polder::smr {

// Others run. If there is no barrier to be had any more, the process ends: what waits for one would never return, and must
// not return without.
template <class Fences>
void between_tries(const Fences& fences) noexcept {
  if constexpr (requires { fences.refused_for_good(); }) {
    if (fences.refused_for_good())
      misused("fences",
              "the kernel refuses membarrier, which it did not when the domain was made, and to go to other "
              "processors: "
              "whether an object is still read cannot be told. fences::choice::symmetric needs neither");
  }
  sched_yield();
}

}  // namespace polder::smr
