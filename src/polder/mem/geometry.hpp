#pragma once
// geometry — how the heap's address space is cut: grains in chunks.
#include <cstddef>
#include <cstdint>

#include <polder/base/bits.hpp>

namespace polder::mem {

inline constexpr unsigned grain_shift = 16;
inline constexpr std::size_t grain_size = std::size_t{1} << grain_shift;  // one span, one unit of a large block

inline constexpr unsigned grains_per_chunk = 64;  // a chunk's grains are the bits of one word
inline constexpr std::size_t chunk_size = grains_per_chunk * grain_size;
inline constexpr unsigned longest_run =
    8 * grains_per_chunk;  // beyond, a mapping of its own costs little in comparison

// Number of a grain, dense over the whole heap; 0 is never handed out and ends lists.
using grain = std::uint32_t;
// Number of a chunk: grains [64 * c, 64 * c + 64).
using chunk_number = std::uint32_t;

constexpr chunk_number chunk_of(grain g) { return g / grains_per_chunk; }
constexpr unsigned position_in_chunk(grain g) { return g % grains_per_chunk; }

// Where memory is to lie: the number of a NUMA node + 1. All chunks, LABs and threads are of no site while nodes do not matter.
using site = std::uint8_t;
inline constexpr site no_site = 0;
inline constexpr unsigned sites = 64;  // nodes beyond are not told apart from none

constexpr site site_of_node(unsigned node) { return node + 1 < sites ? site(node + 1) : no_site; }
constexpr unsigned node_of_site(site s) { return s - 1u; }

constexpr std::size_t grains_for(std::size_t bytes) { return (bytes + grain_size - 1) >> grain_shift; }

}  // namespace polder::mem
