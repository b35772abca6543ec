#pragma once
// place — what superblocks are measured in: the smallest one is a place long, others are runs of places.
#include <cstddef>

#include <polder/base/bits.hpp>

namespace polder::heap::michael {

inline constexpr std::size_t place_bytes = 16 * KiB;

}  // namespace polder::heap::michael
