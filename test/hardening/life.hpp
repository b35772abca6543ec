#pragma once
// life — what a program does before a mistake, and how it goes on after one.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "../probe/block.hpp"
#include "../probe/made.hpp"
#include "../probe/random.hpp"
#include "mistake.hpp"

namespace polder::hardening {

using probe::block;
using probe::give_back;
using probe::made;
using probe::opaque;
using probe::random;

// A size that every heap takes for small.
inline std::size_t small(random& r) { return 16 + r.below(1009); }
// Whole pages, from 1 MiB to less than 2 MiB.
inline std::size_t large(random& r) { return (256 + r.below(256)) * 4096; }

inline effect harm_if(bool harmed) { return harmed ? effect::harm : effect::none; }
inline effect worse(effect a, effect b) { return a == effect::harm ? a : b; }

// Blocks of any size come, and half of them go: no two runs find the same places.
inline void live_a_little(random& r) {
  std::array<void*, 300> held;
  const auto n = r.below(held.size());
  for (std::size_t i = 0; i < n; i++) held[i] = block(small(r));
  for (std::size_t i = 0; i < n; i++)
    if (r.below(2) != 0) give_back(held[i]);
}

struct region {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool has(const void* p) const { return p >= begin && p < end; }
};

// Allocates blocks of this size that know themselves, until the heap must have come across what the mistake left. Harm:
// two of them are one, or one lies in `forbidden`. Then many come and go, until it must have come back to the rest: where 1,024
// wait and which of them leaves is drawn, one is still there after so many with a chance of 10^-9.
inline effect go_on(std::size_t size, region forbidden = {}) {
  constexpr std::size_t wave = 1000, waves = 24;
  static void* held[wave];
  size = std::max(size, probe::min_stamped);
  for (std::size_t i = 0; i < wave; i++) {
    held[i] = opaque(std::malloc(size));
    if (held[i] == nullptr || forbidden.has(held[i])) return effect::harm;
    probe::stamp(held[i], size, std::uint32_t(i));
  }
  for (auto* p : held)
    if (!probe::intact(p)) return effect::harm;
  for (auto* p : held) give_back(p);
  for (std::size_t n = 1; n < waves; n++) {
    for (auto& p : held) p = opaque(std::malloc(size));
    for (auto* p : held) give_back(p);
  }
  return effect::none;
}

// The same with large blocks, a few.
inline effect go_on_large(std::size_t size) {
  constexpr std::size_t wave = 6;
  void* held[wave];
  for (std::size_t i = 0; i < wave; i++) held[i] = made(size, std::uint32_t(i));
  for (auto* p : held)
    if (!probe::intact(p)) return effect::harm;
  for (auto* p : held) give_back(p);
  return effect::none;
}

}  // namespace polder::hardening
