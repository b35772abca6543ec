#pragma once
// relax — a breath between two looks at a word that another processor is about to write.

namespace polder::ds {

inline void relax() noexcept {
#if defined(POLDER_MODEL)
#elif defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace polder::ds
