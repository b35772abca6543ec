#pragma once
// pool — no order: what comes out was put in, once, and its get did not return before its put was called.
//
// With conservation and exact empties (emptiness.hpp) that is a linearizable pool: put and get of an element that is
// certainly inside for a while happen when its put returns and when its get is called, of another both at one common
// moment.
#include "checker/elements.hpp"

namespace polder::checker {

inline verdict pool(const elements& of) { return of.sane(); }

}  // namespace polder::checker
