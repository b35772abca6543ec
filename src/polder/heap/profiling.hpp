#pragma once
// profiling — what a heap answers who starts its profile.
#include <cstdint>

namespace polder::heap {

enum class profiling : std::uint8_t {
  done,
  no_memory,   // for the profile itself
  other_mean,  // there are samples already, drawn with another mean
};

}  // namespace polder::heap
