#pragma once
// suits — whether a reclaimer can keep a structure's nodes: what the structure's info asks for, and what the scheme gives.
#include <string_view>

#include <polder/ds/needs.hpp>
#include <polder/ds/tree/reading.hpp>

namespace polder::ds {

// Whether its searches are read phases (tree/reading.hpp). A map's info says so; no queue, stack, deque or pool has any.
template <class Info>
constexpr bool has_read_phases(const Info& of) {
  if constexpr (requires { of.restarts; }) return of.restarts;
  else return false;
}

// Why R cannot keep such a structure's nodes; empty: it can. What protects a region protects each pointer too. A scheme that
// restarts readers would be another one without read phases: its bound, its speed and its name would not hold.
template <class R, class Info>
constexpr std::string_view unsuited(const Info& of) {
  if (of.protection == needs::none) return {};
  if (of.protection == needs::region && R::info.protects != decltype(R::info.protects)::region)
    return "this reclaimer protects single pointers, and the structure needs regions";
  if (restarts<R> && !has_read_phases(of))
    return "this reclaimer restarts readers, and the structure's searches are not read phases";
  return {};
}
template <class R, class Info>
constexpr bool suits(const Info& of) {
  return unsuited<R>(of).empty();
}

}  // namespace polder::ds
