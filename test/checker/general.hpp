#pragma once
// general — queue, stack, deque and pool as one thread alone sees them, for the search of linearizations: any semantics
// that can be said so, histories of up to 64 operations.
//
// With k: a get takes one of the k + 1 elements that are next. An empty is exact.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <polder/ds/linearization_test.hpp>

#include "checker/history.hpp"

namespace polder::checker {

struct in_turn {
  using operation = event;
  using state = std::vector<std::uint64_t>;  // a deque's from left to right, else oldest first
};

template <class Self>
struct sequential : in_turn {
  bool apply(const event& e, state& inside) const {
    switch (e.what) {
      case call::empty: return inside.empty();
      case call::put:
        inside.insert(e.at == side::left && Self::left_puts ? inside.begin() : inside.end(), e.value);
        return true;
      case call::get: {
        const auto at = std::find(inside.begin(), inside.end(), e.value);
        if (at == inside.end()) return false;
        const auto left = std::size_t(at - inside.begin()), right = inside.size() - left - 1;
        if (!static_cast<const Self*>(this)->may_get(e, left, right)) return false;
        inside.erase(at);
        return true;
      }
    }
    return false;
  }
  static constexpr bool left_puts = false;
};

struct sequential_queue : sequential<sequential_queue> {
  explicit sequential_queue(std::size_t k = 0) : k(k) {}
  bool may_get(const event&, std::size_t older, std::size_t) const { return older <= k; }
  std::size_t k;
};

struct sequential_stack : sequential<sequential_stack> {
  explicit sequential_stack(std::size_t k = 0) : k(k) {}
  bool may_get(const event&, std::size_t, std::size_t younger) const { return younger <= k; }
  std::size_t k;
};

struct sequential_pool : sequential<sequential_pool> {
  bool may_get(const event&, std::size_t, std::size_t) const { return true; }
};

struct sequential_deque : sequential<sequential_deque> {
  explicit sequential_deque(std::size_t k = 0) : k(k) {}
  static constexpr bool left_puts = true;
  bool may_get(const event& e, std::size_t left, std::size_t right) const {
    return (e.at == side::left ? left : right) <= k;
  }
  std::size_t k;
};

template <class Spec>
bool linearizable(const Spec& spec, const history& h) {
  std::vector<event> all;
  for (const std::vector<event>& part : h) all.insert(all.end(), part.begin(), part.end());
  return ds::linearizable(spec, std::span<const event>(all));
}

}  // namespace polder::checker
