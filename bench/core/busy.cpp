#include "core/busy.hpp"

#include <algorithm>

#include "core/measure.hpp"

namespace polder::bench {

namespace {

std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(now_ns());
#endif
}

}  // namespace

busy::busy(std::uint64_t cycles) : steps_(20'000) {
  if (cycles == 0) {
    steps_ = 0;
    return;
  }
  std::uint64_t least = ~std::uint64_t{0};  // of several: the others were interrupted
  for (int i = 0; i != 50; ++i) {
    const std::uint64_t from = ticks();
    (*this)();
    least = std::min(least, ticks() - from);
  }
  steps_ = std::max<std::uint64_t>(1, (cycles * steps_ + least / 2) / std::max<std::uint64_t>(1, least));
}

}  // namespace polder::bench
