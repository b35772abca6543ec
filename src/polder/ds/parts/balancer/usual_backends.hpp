#pragma once
// usual_backends — p, how many backends a distributed structure has if nobody says.
//
// The papers' 80 is one for each hardware thread of their machine with 40 cores.
#include <cstddef>

#include <polder/os/processors.hpp>

namespace polder::ds::balancer {

inline constexpr std::size_t papers_backends = 80;

inline std::size_t usual_backends() noexcept { return 2 * std::size_t{os::processors()}; }

}  // namespace polder::ds::balancer
