#pragma once
// linearization — whether answers that overlapped in time could have been had one at a time.
//
//   paper      Herlihy and Wing, TOPLAS 1990 (linearizability); Wing and Gong, JPDC 1993 (the search); Lowe, CPPE 2017
//              (what was tried is remembered)
//
// A Spec is what one thread alone would see:
//   operation                                   with from and to: when it was called, and when it returned
//   state                                       ordered; made by default it is the one before all operations
//   bool apply(const operation&, state&) const  the state after it, if it may have had its answer; else false
//
// Of two operations one is before the other if it returned at an earlier moment than the other was called; at the same
// moment they overlap.
#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace polder::ds {

// Depth first: next is any operation that was called before the first return among those that are left. At most 64.
template <class Spec>
bool linearizable(const Spec& spec, std::span<const typename Spec::operation> all) {
  using placing =
      std::pair<std::uint64_t, typename Spec::state>;  // which operations are placed, and the state then
  if (all.size() > 64) __builtin_trap();
  std::set<placing> tried;
  std::vector<placing> open{{0, typename Spec::state{}}};
  const std::uint64_t whole = all.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << all.size()) - 1;
  while (!open.empty()) {
    const placing now = std::move(open.back());
    open.pop_back();
    if (now.first == whole) return true;
    std::uint64_t first_return = ~std::uint64_t{0};
    for (std::size_t i = 0; i != all.size(); ++i) {
      if ((now.first >> i & 1) == 0) first_return = std::min<std::uint64_t>(first_return, all[i].to);
    }
    for (std::size_t i = 0; i != all.size(); ++i) {
      if ((now.first >> i & 1) != 0 || all[i].from > first_return) continue;
      placing then{now.first | std::uint64_t{1} << i, now.second};
      if (spec.apply(all[i], then.second) && tried.insert(then).second) open.push_back(std::move(then));
    }
  }
  return false;
}

}  // namespace polder::ds
