#pragma once
// outside — how much of a span or a run its users have, as a thread sees it that does not own it. Figures, never a decision.
//
//   progress   wait-free
#include <bit>
#include <cstddef>
#include <cstdint>

#include <polder/heap/polder/lab.hpp>
#include <polder/mem/grain_pool.hpp>

namespace polder::heap {

constexpr std::uint32_t capacity(unsigned cls) { return classes::usable_bytes[cls] / classes::block_size[cls]; }

// How many blocks of a span are out.
inline std::uint32_t blocks_outside(const lab& owner, const mem::span& s, std::uint32_t w) noexcept {
  const std::uint32_t all = capacity(mem::word::cls(w));
  if (mem::word::is_full(w)) return all;
  const std::uint32_t used = s.used.glimpse();
  const bool hot = s.state.glimpse() == mem::span_state::hot;
  const std::uint32_t more = hot ? one_more(owner.keeps.glimpse(), mem::word::cls(w)) : 0;
  const std::uint32_t out = used > more ? used - more : 0;
  return out < all ? out : all;
}

// What of a span was given back while it is in use.
inline std::size_t returned_bytes(const mem::span& s, std::uint32_t w, std::size_t page) noexcept {
  return mem::word::is_thin(w) ? unsigned(std::popcount(s.returned.load(order::relaxed))) * page : 0;
}

// The length of a run whose word was read as large or kept. Its record may be a span's by now: then it is no run any more.
inline std::size_t run_bytes(const mem::large_run& run, const atomic<std::uint32_t>& word) noexcept {
  const std::size_t grains = run.grains.glimpse();
  signal_fence();  // the compiler keeps the two in order, and most processors do: where one does not, the bound holds
  if (!mem::word::is_run(word.load(order::relaxed))) return 0;
  return (grains < mem::grain_pool::longest ? grains : mem::grain_pool::longest) << mem::grain_shift;
}

}  // namespace polder::heap
