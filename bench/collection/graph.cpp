#include "collection/graph.hpp"

#include <cmath>

namespace polder::bench {

graph::graph(std::size_t vertices, const mapped_array<pair>& pairs, std::size_t count)
    : begin_(vertices + 1), edges_(2 * count + 1) {
  for (std::size_t i = 0; i != count; ++i) ++begin_[pairs[i].a], ++begin_[pairs[i].b];
  std::uint64_t at = 0;
  for (std::uint64_t& b : begin_) at += b, b = at;  // the end of each, for now
  for (std::size_t i = 0; i != count; ++i) {
    const pair& p = pairs[i];
    edges_[--begin_[p.a]] = {p.b, p.weight};
    edges_[--begin_[p.b]] = {p.a, p.weight};
  }
}

graph graph::random_of(std::size_t vertices, std::size_t edges, std::uint64_t seed) {
  mapped_array<pair> pairs(edges);
  random numbers(seed, 1);
  for (pair& p : pairs) {
    p.a = static_cast<std::uint32_t>(numbers.below(vertices));
    p.b = static_cast<std::uint32_t>(numbers.below(vertices));
    p.weight = static_cast<std::uint32_t>(1 + numbers.below(100));
  }
  return graph(vertices, pairs, edges);
}

graph graph::grid_of(std::size_t vertices, std::uint64_t seed) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(vertices)));
  mapped_array<pair> pairs(2 * side * side);
  random numbers(seed, 2);
  std::size_t count = 0;
  const auto join = [&](std::size_t a, std::size_t b) {
    if (numbers.percent(10)) return;
    pairs[count++] = {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                      static_cast<std::uint32_t>(1 + numbers.below(100))};
  };
  for (std::size_t y = 0; y != side; ++y) {
    for (std::size_t x = 0; x != side; ++x) {
      if (x + 1 != side) join(y * side + x, y * side + x + 1);
      if (y + 1 != side) join(y * side + x, (y + 1) * side + x);
    }
  }
  return graph(side * side, pairs, count);
}

}  // namespace polder::bench
