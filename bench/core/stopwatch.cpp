#include "core/stopwatch.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace polder::bench {

namespace {

// Leaf 8000'0007h, EDX bit 8: the counter runs at one rate in all states of the processor.
bool counter_is_constant() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}

}  // namespace

stopwatch::stopwatch() : constant_(counter_is_constant()) {
  if (constant_) {
    const std::int64_t from_ns = now_ns();
    const std::uint64_t from = begin();
    while (now_ns() - from_ns < 20'000'000) {
    }
    const auto ns = static_cast<std::uint64_t>(now_ns() - from_ns);
    rate_ = static_cast<std::uint64_t>((static_cast<unsigned __int128>(ns) << 32) / (begin() - from));
  }
  std::uint64_t nothing[1001];
  for (auto& ns : nothing) {
    const std::uint64_t from = begin();
    ns = end(from);
  }
  std::nth_element(nothing, nothing + 500, nothing + 1001);
  overhead_ns_ = nothing[500];
}

}  // namespace polder::bench
