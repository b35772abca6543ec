#pragma once
// stamped — room in a node for a stamp (parts/clock.hpp): at first without one.
//
//   none ──▶ set, by who puts the element, once
#include <optional>

#include <polder/ds/parts/clock.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Time>
class stamped;

template <>
class stamped<point> {
 public:
  void set(point p) noexcept { at_.store(p.at, order::relaxed); }
  std::optional<point> get() const noexcept {
    const std::uint64_t at = at_.load(order::relaxed);
    if (at == 0) return std::nullopt;
    return point{at};
  }

 private:
  // Written by who puts, read by who looks for an element; 0: none. Order: nothing is read through it.
  atomic<std::uint64_t> at_{0};
};

template <>
class stamped<span> {
 public:
  void set(span s) noexcept {
    from_.store(s.from, order::relaxed);
    to_.store(s.to, order::release);  // sync: span-set
  }
  std::optional<span> get() const noexcept {
    const std::uint64_t to = to_.load(order::acquire);  // sync: span-set
    if (to == 0) return std::nullopt;
    return span{from_.load(order::relaxed), to};
  }

 private:
  // As above. span-set: who sees the second word sees the first.
  atomic<std::uint64_t> from_{0};
  atomic<std::uint64_t> to_{0};
};

}  // namespace polder::ds
