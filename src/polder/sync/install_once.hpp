#pragma once
// install_once — a slot that is empty until somebody needs what belongs there, and then never changes.
//
//   paper      none
//   progress   wait-free, but for what making one takes
//   in malloc  yes, where making one is
//
// States. The arrow is one successful CAS; who loses it gives back what it has made and uses the other's.
//
//        empty ───────────────▶ installed
//               [it is everybody's now]
//
// Invariant: all threads get the same one, and find in it what its maker wrote.
#include <polder/sync/atomic.hpp>

namespace polder {

// What the slot holds. `make()`: a new one, null if there can be none, and then null is returned; `discard(p)`: nobody has
// seen it. A slot is read elsewhere with order::acquire, of the same edge:
//   order       installed: the CAS releases what make() wrote; every later look acquires it
//   ABA         no: a slot changes once
template <class T, class Make, class Discard>
[[nodiscard]] T* install_once(atomic<T*>& slot, Make&& make, Discard&& discard) noexcept {
  T* known = slot.load(order::acquire);  // sync: installed
  if (known) [[likely]]
    return known;
  T* const fresh = make();
  if (!fresh || slot.cas(known, fresh, order::acq_rel, order::acquire)) return fresh;  // sync: installed
  discard(fresh);
  return known;
}

}  // namespace polder
