#pragma once
// mistake — something that a program may not do with its heap, done by a plain user of malloc, and what came of it.
//
// Sizes, places and moments are drawn from a seed, so that of a thousand runs no two are alike. Nothing here knows an
// allocator: the one under test is preloaded.
#include <cstring>
#include <span>

#include "../probe/random.hpp"

namespace polder::hardening {

struct group {
  const char* name;
  const char* title;
};

inline constexpr group groups[] = {
    {"control", "No mistake"},
    {"twice", "Freed twice"},
    {"stray", "Freed, and not a live block"},
    {"size", "Freed with another size or alignment"},
    {"write", "Written where nothing of the program's is"},
    {"read", "Read what is not the program's any more, or not its own"},
    {"guess", "Guessed where the next block will be"},
};

// What the program sees of it when the heap let it go on. The heap's own way out is to end the process.
enum class effect { none, harm, not_applicable };

struct mistake {
  const char* name;
  const char* group;
  const char* what;
  const char* harm;  // what is observed when it succeeds
  effect (*make)(probe::random&);
};

std::span<const mistake> control();       // control.cpp
std::span<const mistake> double_frees();  // double_frees.cpp
std::span<const mistake> stray_frees();   // stray_frees.cpp
std::span<const mistake> writes();        // writes.cpp
std::span<const mistake> reads();         // reads.cpp
std::span<const mistake> guesses();       // guesses.cpp

template <class F>
void for_every_mistake(F f) {
  for (auto some : {control(), double_frees(), stray_frees(), writes(), reads(), guesses()})
    for (const auto& one : some) f(one);
}

// In the order of the groups.
template <class F>
void for_every_mistake_in_order(F f) {
  for (const auto& g : groups)
    for_every_mistake([&](const mistake& one) {
      if (std::strcmp(one.group, g.name) == 0) f(one);
    });
}

// Makes the mistake and ends the process with a status of ../probe/expect.hpp: 0 without harm, `wrong` with it,
// `not_applicable`. 2: there is none of that name.
int make(const char* name, const char* seed);

}  // namespace polder::hardening
