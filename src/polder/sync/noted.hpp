#pragma once
// noted — a bit in a summary says that there may be something in a place, so that who searches need not look at each.
//
//   paper      none; Dekker's store-load, of who puts something there with who finds nothing
//   progress   wait-free
//   in malloc  yes
//   invariant  whenever nobody is inside: where there is something, the bit is set
#include <cstdint>

#include <polder/sync/atomic.hpp>

namespace polder {

// After something was put into the place.
inline void note(atomic<std::uint64_t>& summary, std::uint64_t bit) noexcept {
  fence(order::seq_cst);  // sync: there-or-noted: store of the thing, load of the bit; see forget
  if ((summary.load(order::relaxed) & bit) == 0) summary.fetch_or(bit, order::relaxed);
}

// After nothing was found there. `any()`: is there something? It looks again, for who put it there may have found the bit still
// set. Both sides store, fence, load: either that one sees the bit cleared, or this one sees its thing.
template <class Any>
void forget(atomic<std::uint64_t>& summary, std::uint64_t bit, Any&& any) noexcept {
  summary.fetch_and(~bit, order::relaxed);
  fence(order::seq_cst);  // sync: there-or-noted
  if (any()) note(summary, bit);
}

}  // namespace polder
