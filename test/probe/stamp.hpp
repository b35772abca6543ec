#pragma once
// stamp — a block that knows itself: its first 16 bytes say its size and seed and seal its address, the rest follows
// from them. Two blocks that overlap, a lost write and a link left by the heap all show in `intact`.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "expect.hpp"

namespace polder::probe {

struct stamp_head {
  std::uint32_t size;
  std::uint32_t seed;
  std::uint64_t seal;
};

inline constexpr std::size_t min_stamped = sizeof(stamp_head);

inline std::uint64_t seal_of(const void* p, std::uint32_t size, std::uint32_t seed) {
  auto x = reinterpret_cast<std::uintptr_t>(p) ^ (std::uint64_t{size} << 32 | seed);
  x *= 0x9e3779b97f4a7c15;
  return x ^ (x >> 29);
}

// Calls f(offset, value) for the bytes a stamp covers: all of a small block; both ends and a byte a page of a big one.
template <class F>
inline void for_stamped_bytes(std::size_t size, std::uint32_t seed, F f) {
  auto value = [seed](std::size_t i) { return static_cast<unsigned char>(seed * 31 + i * 7 + 1); };
  if (size <= 512) {
    for (std::size_t i = min_stamped; i < size; i++) f(i, value(i));
    return;
  }
  for (std::size_t i = min_stamped; i < 64; i++) f(i, value(i));
  for (std::size_t i = 4095; i < size - 64; i += 4096) f(i, value(i));
  for (std::size_t i = size - 64; i < size; i++) f(i, value(i));
}

inline void stamp(void* p, std::size_t size, std::uint32_t seed) {
  auto* bytes = static_cast<unsigned char*>(p);
  stamp_head head{std::uint32_t(size), seed, seal_of(p, std::uint32_t(size), seed)};
  std::memcpy(p, &head, sizeof head);
  for_stamped_bytes(size, seed, [bytes](std::size_t i, unsigned char v) { bytes[i] = v; });
}

inline stamp_head head_of(const void* p) {
  stamp_head head;
  std::memcpy(&head, p, sizeof head);
  return head;
}

// Are the bytes below `until` as `stamp(p_then, …)` left them? `p_then` differs from `p` after a realloc that moved.
inline bool body_intact(const void* p, const stamp_head& head, std::size_t until) {
  auto* bytes = static_cast<const unsigned char*>(p);
  bool same = true;
  for_stamped_bytes(head.size, head.seed, [&](std::size_t i, unsigned char v) {
    if (i < until && bytes[i] != v) same = false;
  });
  return same;
}

inline bool intact(const void* p) {
  auto head = head_of(p);
  return head.seal == seal_of(p, head.size, head.seed) && body_intact(p, head, head.size);
}

inline void expect_intact(const void* p, const char* where) {
  expect(intact(p), "%s: block %p no longer holds what was written to it", where, p);
}

}  // namespace polder::probe
