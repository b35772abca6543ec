#pragma once
// graph — vertices and directed edges in two arrays, made from a seed: the same on every machine.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/mapped_array.hpp"
#include "core/random.hpp"

namespace polder::bench {

class graph {
 public:
  struct edge {
    std::uint32_t to;
    std::uint32_t weight;  // 1 to 100
  };

  // Random: each edge joins two vertices drawn alike, in both directions.
  static graph random_of(std::size_t vertices, std::size_t edges, std::uint64_t seed);
  // Road-like: a square grid, one street in ten is missing.
  static graph grid_of(std::size_t vertices, std::uint64_t seed);

  std::size_t size() const { return begin_.size() - 1; }
  std::span<const edge> from(std::size_t v) const { return {&edges_[begin_[v]], begin_[v + 1] - begin_[v]}; }

 private:
  struct pair {
    std::uint32_t a, b, weight;
  };
  graph(std::size_t vertices, const mapped_array<pair>& pairs, std::size_t count);

  mapped_array<std::uint64_t> begin_;  // of each vertex, and one more
  mapped_array<edge> edges_;
};

}  // namespace polder::bench
