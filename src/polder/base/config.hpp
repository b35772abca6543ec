#pragma once
// config — what the compiler is told, and the few facts about the machine that are compile-time constants.
#include <cstddef>

#define POLDER_ALWAYS_INLINE [[gnu::always_inline]] inline
#define POLDER_NOINLINE [[gnu::noinline]]

namespace polder {

// Two lines: the adjacent-line prefetcher of x86 moves pairs.
inline constexpr std::size_t cache_line = 64;
inline constexpr std::size_t false_sharing_range = 128;

// The build whose free lists are encoded and whose usual options are the hardened ones (docs/how-to/hardening.md).
#if defined(POLDER_HARDENED)
inline constexpr bool hardened_build = true;
#else
inline constexpr bool hardened_build = false;
#endif

// What max_align_t asks for; every block of every size keeps it.
inline constexpr std::size_t min_alignment = 16;

// For the fast paths, where few instructions matter. They compute nothing.
//
// What was known of the word is known no more: it is read anew, as an operand, and keeps no register.
template <class T>
POLDER_ALWAYS_INLINE void read_anew(T& word) noexcept {
  asm("" : "+m"(word));
}
// n, of which nothing is known any more: so many bytes are copied by memcpy. Of few the compiler makes `rep movs`, which takes
// thirty cycles to begin, and what was written by it is read only when it is in the cache.
POLDER_ALWAYS_INLINE std::size_t any_number(std::size_t n) noexcept {
  asm("" : "+r"(n));
  return n;
}
// p, in another register than that of a function's result, which is then made where it is returned: one for each `other`.
template <int other = 0, class T>
POLDER_ALWAYS_INLINE T* beside_the_result(T* p) noexcept {
#if defined(__x86_64__)
  if constexpr (other == 0) asm("" : "+d"(p));
  else asm("" : "+c"(p));
#endif
  return p;
}

}  // namespace polder
