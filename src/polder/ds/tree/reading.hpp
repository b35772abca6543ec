#pragma once
// reading — how a structure says which part of an operation only reads: one text for every reclaimer.
//
//   const place p = read(g, [&](auto& r) { … r.protect(slot, word) … reserve(r, slot, node); return place{…}; });
//
// Where the reclaimer restarts (smr/reclaimer.hpp: restartable_reclaimer) this is a read phase: it may run more than once,
// and what is used after it must be reserved in it. Elsewhere it runs once, on the guard itself, and what protect() gave is
// kept by the slot that it was given, or by the guard.
#include <utility>

namespace polder::ds {

template <class R>
concept restarts = requires { requires R::restarts; };

template <class Guard, class Read>
[[gnu::always_inline]] inline auto read(Guard& g, Read&& in_phase) {
  if constexpr (requires { typename Guard::view; }) {
    return g.read(in_phase);
  } else {
    return in_phase(g);
  }
}

template <class View>
[[gnu::always_inline]] inline void reserve(View& r, unsigned slot, const void* p) {
  if constexpr (requires { r.reserve(slot, p); }) r.reserve(slot, p);
}

// Whether all that a search passes stays readable while it runs, so that it may read on from what was unlinked.
template <class R>
constexpr bool searches_by_region = restarts<R> || R::info.protects == decltype(R::info.protects)::region;

}  // namespace polder::ds
