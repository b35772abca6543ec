#pragma once
// probe — where a tracer may look on: the USDT probes of provider `polder`, all of them in slow paths. docs/how-to/tools.md says
// how they are used; its table is compared with what the library says of itself.
//
//   cost       where one is: an instruction that does nothing. What it tells was in registers or in memory anyway
//   in malloc  yes
//
// Without <sys/sdt.h> at build time there is none (POLDER_PROBES, from cmake/polder_flags.cmake).
#include <cstddef>
#include <cstdint>

#include <polder/base/config.hpp>

#if defined(POLDER_PROBES)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#define POLDER_FIRE(name, ...) STAP_PROBEV(polder, name, __VA_ARGS__)
#else
#define POLDER_FIRE(name, ...) ignored(__VA_ARGS__)
#endif

namespace polder::os::probe {

#if defined(POLDER_PROBES)
inline constexpr bool there = true;
#else
inline constexpr bool there = false;
template <class... Told>
POLDER_ALWAYS_INLINE void ignored(const Told&...) noexcept {}
#endif

// A thread is out of blocks of a class.
POLDER_ALWAYS_INLINE void refill(unsigned cls, std::size_t bytes) noexcept { POLDER_FIRE(refill, cls, bytes); }

// A span of a class came from the pool, by the number of its grain; grains went back, a span's one or a large block's.
POLDER_ALWAYS_INLINE void span_open(unsigned cls, std::uint32_t grain) noexcept {
  POLDER_FIRE(span_open, cls, grain);
}
POLDER_ALWAYS_INLINE void span_give(std::uint32_t grain, unsigned grains) noexcept {
  POLDER_FIRE(span_give, grain, grains);
}

// A block beyond the size classes; huge ones among them.
POLDER_ALWAYS_INLINE void large_alloc(const void* block, std::size_t asked) noexcept {
  POLDER_FIRE(large_alloc, block, asked);
}
POLDER_ALWAYS_INLINE void large_free(const void* block) noexcept { POLDER_FIRE(large_free, block); }

// A mapping of its own for a huge block.
POLDER_ALWAYS_INLINE void huge_map(const void* mapping, std::size_t bytes) noexcept {
  POLDER_FIRE(huge_map, mapping, bytes);
}
POLDER_ALWAYS_INLINE void huge_unmap(const void* mapping, std::size_t bytes) noexcept {
  POLDER_FIRE(huge_unmap, mapping, bytes);
}

// A list of blocks is left with its owner; an inbox is emptied.
POLDER_ALWAYS_INLINE void post(std::uint32_t owner, std::size_t bytes) noexcept { POLDER_FIRE(post, owner, bytes); }
POLDER_ALWAYS_INLINE void drain(std::uint32_t lab, std::size_t bytes) noexcept { POLDER_FIRE(drain, lab, bytes); }

// Another thread's LAB is worked on while that thread is elsewhere.
POLDER_ALWAYS_INLINE void claim(std::uint32_t lab) noexcept { POLDER_FIRE(claim, lab); }

// So much went back to the system: by a step of decay, and because somebody asked.
POLDER_ALWAYS_INLINE void decay_step(std::size_t bytes) noexcept { POLDER_FIRE(decay_step, bytes); }
POLDER_ALWAYS_INLINE void trim(std::size_t bytes) noexcept { POLDER_FIRE(trim, bytes); }

// There was no memory for so many bytes.
POLDER_ALWAYS_INLINE void oom(std::size_t bytes) noexcept { POLDER_FIRE(oom, bytes); }

}  // namespace polder::os::probe

#undef POLDER_FIRE
