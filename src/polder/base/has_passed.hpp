#pragma once
// has_passed — whether so much time lies between two readings of a clock, of which the first may be another thread's, and later.
//
//   invariant  where it is later, none has passed: a difference without a sign would be all the time there is. The sum does not
//              overflow, for no clock comes near that
#include <cstdint>

namespace polder {

constexpr bool has_passed(std::uint64_t period, std::uint64_t since, std::uint64_t now) noexcept {
  return now >= since + period;
}

}  // namespace polder
