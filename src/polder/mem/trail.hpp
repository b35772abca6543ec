#pragma once
// trail — where a LAB took grains last, and which it gave last: those are in its processor's cache, so it has them again first.
//
// A program that fills buffers, frees them and fills others comes round in its own memory as long as nobody else took it.
// From anywhere in the pool it would get what other threads freed, and work in the memory of all of them.
//
// What is noted is not held: anybody may have taken it, the system may have it back, its chunk may be gone. Who follows a trail
// looks at the grains themselves (grain_pool::take), so any value in here is harmless, that of a thread which was killed
// half way through a note as well.
#include <cstdint>

#include <polder/mem/geometry.hpp>

namespace polder::mem {

class trail {
 public:
  static constexpr unsigned room =
      60;  // steps: 4 MiB of single grains, what a core's own cache holds a few times over
  static constexpr unsigned looks =
      8;  // where runs of several lengths come and go, the length is among the last few

  chunk_number chunk = 0;  // where grains were taken or given last

  // Runs that lie in one chunk; where a grain's number is beyond 2^26, 4 TiB from the first, there are no steps.
  void note(grain first, unsigned n) noexcept {
    if (position_in_chunk(first) + n > grains_per_chunk || first >= grain{1} << grain_bits) return;
    steps_[end_] = step_of(first, n);
    end_ = end_ + 1 == room ? 0 : end_ + 1;
  }

  // The first grain of the last run of n that was noted, which is off the trail from now on. 0: none of the last steps is one.
  grain step_back(unsigned n) noexcept {
    unsigned at = end_;
    for (unsigned look = 0; look != looks; ++look) {
      at = before(at);
      if (steps_[at] == 0 || steps_[at] >> grain_bits != n - 1) continue;
      const grain g = steps_[at] % (grain{1} << grain_bits);
      end_ = before(end_);
      steps_[at] = steps_[end_];
      steps_[end_] = 0;
      return g;
    }
    return 0;
  }

 private:
  // A step: the first grain, and above it how many follow. 0: nothing was noted.
  using step = std::uint32_t;
  static constexpr unsigned grain_bits = 26;
  static_assert(grains_per_chunk <= 1u << (32 - grain_bits));
  static constexpr step step_of(grain first, unsigned n) { return first | (n - 1) << grain_bits; }
  static constexpr unsigned before(unsigned at) { return at == 0 ? room - 1 : at - 1; }

  step steps_[room] = {};
  std::uint32_t end_ = 0;  // where the next one goes
};

}  // namespace polder::mem
