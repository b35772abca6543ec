#pragma once
// overtakings — how many elements each one certainly overtook when it came out, and by how many it was.
//
//   paper      Haas, Lippautz, Henzinger, Payer, Sokolova, Kirsch and Sezgin, CF 2013, sec. 5.3
//   takes      O(n (log n + threads))
//
// In a queue x overtook y if y's put returned before x's was called, and y's get was called after x's returned, or
// never: in every linearization y is older than x and still inside when x comes out. In a stack x overtook y if y's put
// was called after x's had returned, and y was certainly inside from the call of x's get to its return. So no
// linearization to a k out of order queue or stack has a k less than the most that anybody overtook.
//
// Both are counts of points in a quarter of the plane, by a sweep over one coordinate and sums over the other. The
// stack's third condition is taken off first: y's put may be called no later than x's returns, so those are counted and
// subtracted; among them those whose put lasts until x's get are subtracted in error and added again one by one, and
// there is no more than one of them a thread.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "checker/elements.hpp"

namespace polder::checker {

enum class order_of : bool { queue, stack };

class overtakings {
 public:
  // By element; 0 of one that never came out.
  static std::vector<std::uint32_t> overtook(std::span<const element> all, order_of o) {
    const std::vector<times> of = times_of(all);
    return o == order_of::queue ? in_queue(of) : in_stack(of);
  }
  static std::vector<std::uint32_t> was_overtaken(std::span<const element> all, order_of o) {
    std::vector<times> of = times_of(all);
    for (times& t : of) t = o == order_of::queue ? mirrored(t) : backwards(t);
    std::vector<std::uint32_t> found = o == order_of::queue ? in_queue(of) : in_stack(of);
    for (std::size_t i = 0; i != all.size(); ++i) {
      if (!all[i].was_got()) found[i] = 0;
    }
    return found;
  }

 private:
  struct times {
    std::uint64_t put_from, put_to, get_from, get_to;
  };
  struct point {
    std::uint64_t x, y;
  };

  static std::vector<times> times_of(std::span<const element> all) {
    std::vector<times> of;
    of.reserve(all.size());
    for (const element& e : all) of.push_back({e.put_from, e.put_to, e.get_from, e.get_to});
    return of;
  }

  // A queue whose time runs backwards for puts and for gets, each: who overtook was overtaken.
  static times mirrored(const times& t) { return {~t.put_to, ~t.put_from, ~t.get_to, ~t.get_from}; }
  // A stack whose time runs backwards: puts are gets, and who overtook was overtaken.
  static times backwards(const times& t) {
    return {back(t.get_to), back(t.get_from), back(t.put_to), back(t.put_from)};
  }
  static std::uint64_t back(std::uint64_t t) { return t == never ? 0 : never - 1 - t; }

  static std::vector<std::uint32_t> in_queue(const std::vector<times>& of) {
    std::vector<std::uint32_t> found(of.size());
    count(
        of,
        [](const times& t) {
          return point{t.put_to, t.get_from};
        },
        [](const times& t) {
          return point{t.put_from, t.get_to};
        },
        [&](std::size_t i, std::uint32_t n) { found[i] = n; });
    return found;
  }

  static std::vector<std::uint32_t> in_stack(const std::vector<times>& of) {
    std::vector<std::uint32_t> found(of.size());
    const auto inside = [](const times& t) { return t.put_to < t.get_from && t.get_to != never; };
    count(
        of,
        [](const times& t) {
          return point{t.put_to, t.get_from};
        },
        [](const times& t) {
          return point{t.get_from, t.get_to};
        },
        [&](std::size_t i, std::uint32_t n) { found[i] += inside(of[i]) ? n : 0; });
    count(
        of,
        [](const times& t) {
          return point{t.put_from, t.get_from};
        },
        [](const times& t) {
          return point{t.put_to + 1, t.get_to};
        },
        [&](std::size_t i, std::uint32_t n) { found[i] -= inside(of[i]) ? n : 0; });
    // Puts that were called when x's had not returned yet and lasted until its get was called.
    std::vector<std::uint32_t> called = by(of, [](const times& t) { return t.put_from; });
    std::vector<std::uint32_t> lasting;
    std::size_t next = 0;
    for (const std::uint32_t i : by(of, [](const times& t) { return t.put_to; })) {
      const times& x = of[i];
      for (; next != called.size() && of[called[next]].put_from <= x.put_to; ++next)
        lasting.push_back(called[next]);
      std::erase_if(lasting, [&](std::uint32_t y) { return of[y].put_to < x.put_to; });
      if (!inside(x)) continue;
      for (const std::uint32_t y : lasting) found[i] += of[y].put_to >= x.get_from && of[y].get_from > x.get_to;
    }
    return found;
  }

  template <class Key>
  static std::vector<std::uint32_t> by(const std::vector<times>& of, Key key) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted(of.size());
    for (std::size_t i = 0; i != of.size(); ++i) sorted[i] = {key(of[i]), std::uint32_t(i)};
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> found(of.size());
    for (std::size_t i = 0; i != of.size(); ++i) found[i] = sorted[i].second;
    return found;
  }

  // For each element, how many of the others' points have a smaller x and a greater y than its corner.
  template <class Points, class Corners, class F>
  static void count(const std::vector<times>& of, Points point_of, Corners corner_of, F f) {
    std::vector<std::uint64_t> heights(of.size());
    for (std::size_t i = 0; i != of.size(); ++i) heights[i] = point_of(of[i]).y;
    std::sort(heights.begin(), heights.end());
    heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
    std::vector<std::uint32_t> sums(heights.size() + 1);  // Fenwick's tree
    const std::vector<std::uint32_t> points = by(of, [&](const times& t) { return point_of(t).x; });
    std::uint32_t passed = 0;
    for (const std::uint32_t i : by(of, [&](const times& t) { return corner_of(t).x; })) {
      const point corner = corner_of(of[i]);
      for (; passed != points.size() && point_of(of[points[passed]]).x < corner.x; ++passed) {
        const auto at = std::lower_bound(heights.begin(), heights.end(), point_of(of[points[passed]]).y);
        for (std::size_t n = std::size_t(at - heights.begin()) + 1; n < sums.size(); n += n & (~n + 1)) ++sums[n];
      }
      std::uint32_t not_above = 0;
      const auto at = std::upper_bound(heights.begin(), heights.end(), corner.y);
      for (std::size_t n = std::size_t(at - heights.begin()); n != 0; n &= n - 1) not_above += sums[n];
      f(i, passed - not_above);
    }
  }
};

}  // namespace polder::checker
