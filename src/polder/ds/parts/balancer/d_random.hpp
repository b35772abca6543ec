#pragma once
// d_random — d-RA: of d backends drawn at random, put goes to the shortest and get to the longest.
//
//   paper      Haas et al., "Distributed queues in shared memory", CF 2013, sec. 3
#include <cstddef>
#include <cstdint>

#include <polder/ds/parts/random_draw.hpp>

namespace polder::ds::balancer {

template <unsigned D>
class d_random {
 public:
  static_assert(D != 0);
  static constexpr bool asks_length = D != 1;

  explicit d_random(std::size_t) noexcept {}

  template <class Backends>
  std::size_t put_at(Backends& all) {
    return best(all, [](std::uint64_t drawn, std::uint64_t so_far) { return drawn < so_far; });
  }
  template <class Backends>
  std::size_t get_at(Backends& all) {
    return best(all, [](std::uint64_t drawn, std::uint64_t so_far) { return drawn > so_far; });
  }
  template <class Backends>
  std::size_t scan_at(Backends& all, std::size_t tried) {
    return tried + 1 == all.size() ? 0 : tried + 1;
  }

 private:
  template <class Backends, class Better>
  static std::size_t best(Backends& all, Better better) {
    std::size_t chosen = random_draw(all.size());
    if constexpr (D != 1) {
      std::uint64_t length = all[chosen].length();
      for (unsigned i = 1; i != D; ++i) {
        const std::size_t other = random_draw(all.size());
        if (other == chosen) continue;
        if (const std::uint64_t its = all[other].length(); better(its, length)) chosen = other, length = its;
      }
    }
    return chosen;
  }
};

}  // namespace polder::ds::balancer
