#pragma once
// outside — how much of a span or a run its users have, as a thread sees it that does not own it. Figures, never a decision.
//
//   progress   wait-free
#include <cstddef>
#include <cstdint>

#include <polder/heap/polder/lab.hpp>

namespace polder::heap {

// How many blocks of a span are out, as a thread that is not its owner sees it: what the owner writes meanwhile is read
// as it comes, and a figure that cannot be is bounded by what can.
inline std::size_t blocks_outside(const mem::span& s, unsigned cls) noexcept {
  const std::uint32_t used = glimpse(s.used);
  const std::uint32_t hot = glimpse(s.state) == mem::span_state::hot;
  const std::uint32_t capacity = classes::usable_bytes[cls] / classes::block_size[cls];
  const std::uint32_t out = used > hot ? used - hot : 0;
  return out < capacity ? out : capacity;
}

// The same for a run: its record may be a span's by now, whatever the word said.
inline std::size_t grains_outside(const mem::large_run& run) noexcept {
  const std::size_t grains = glimpse(run.grains);
  return grains < mem::grain_pool::longest ? grains : mem::grain_pool::longest;
}

}  // namespace polder::heap
