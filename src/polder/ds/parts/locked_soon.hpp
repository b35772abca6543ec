#pragma once
// locked_soon — a mutex that is held for a few instructions: who finds it locked looks again for a while before it sleeps,
// since what is done under it takes less than a call of the kernel.
#include <mutex>

#include <polder/ds/parts/relax.hpp>

namespace polder::ds {

inline std::unique_lock<std::mutex> locked_soon(std::mutex& m) {
  constexpr unsigned looks = 100;
  for (unsigned i = 0; i != looks; ++i) {
    if (m.try_lock()) return std::unique_lock<std::mutex>(m, std::adopt_lock);
    relax();
  }
  return std::unique_lock<std::mutex>(m);
}

}  // namespace polder::ds
