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

struct trail {
  static constexpr unsigned room =
      64;  // steps: 4 MiB of single grains, what a core's own cache holds a few times over
  static constexpr unsigned looks =
      8;  // where runs of several lengths come and go, the length is among the last few

  chunk_number chunk = 0;  // where grains were taken or given last

  void note(grain first, unsigned n) noexcept { steps_[end_++ % room] = {first, n}; }

  // The first grain of the last run of n that was noted, which is off the trail from now on. 0: none of the last steps is one.
  grain step_back(unsigned n) noexcept {
    for (unsigned back = 1; back <= looks; ++back) {
      step& s = steps_[(end_ - back) % room];
      if (s.n != n) continue;
      const grain g = s.first;
      step& last = steps_[--end_ % room];
      s = last;
      last = {};
      return g;
    }
    return 0;
  }

 private:
  struct step {
    grain first;
    std::uint32_t n;  // grains; 0: nothing was noted
  };
  step steps_[room] = {};
  std::uint32_t end_ = 0;  // the next step, counted round and round
};

}  // namespace polder::mem
