#pragma once
// check — assertions that compile away in release.
//
//   POLDER_CHECK(level, condition)   level 1: cheap, on in dev and sanitizer builds; level 2: walks structures.
//   must(condition)                  looks in every build: what a caller asked to be checked, as by validate().
//
// The level is set by the build (POLDER_CHECK_LEVEL; 0 in release). A failed check is a bug of Polder, never of its
// user: users' mistakes are reported by mem/misuse.hpp in every build.

#ifndef POLDER_CHECK_LEVEL
#define POLDER_CHECK_LEVEL 0
#endif

#if POLDER_CHECK_LEVEL > 0
#define POLDER_CHECK(level, ...)                   \
  do {                                             \
    if constexpr ((level) <= POLDER_CHECK_LEVEL) { \
      if (!(__VA_ARGS__)) [[unlikely]]             \
        __builtin_trap(); /* see the core */       \
    }                                              \
  } while (false)
#else
#define POLDER_CHECK(level, ...) static_cast<void>(0)
#endif

namespace polder {

inline void must(bool holds) noexcept {
  if (!holds) [[unlikely]]
    __builtin_trap();  // see the core
}

}  // namespace polder
