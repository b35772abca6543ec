#pragma once
// exact_scan — looks through several backends for an element, and says "empty" only if all were empty at one moment.
//
//   paper      Haas et al., "Distributed queues in shared memory", CF 2013, listing 1: the tails are compared; Haas et al.,
//              "Local linearizability", CONCUR 2016, sec. 6
//   progress   lock-free: another pass follows only when a put got through during the last one
//   in malloc  as what it looks through
//   deviation  no array of what was seen: only sums are kept. Numbers instead of tagged tails: none comes twice
//
// A pass asks one backend after the other for an element. Each that is empty adds its number, which grows with every put
// that finds it empty and never shrinks; so if two passes find all of them empty and the sums are equal, each number is what
// it was. A backend with the same number was empty from the one look to the other, and every first look comes before every
// second: at the moment between the passes all were empty, and the get stands there.
//
// Without a clock that all threads share, "moment" means: some order of all operations that agrees with what their threads
// could know. Put the get behind all that its first pass saw, which is for each backend the history up to its number. If
// something in there happened after a put on another backend, then by the backends' edges the second pass could not but see
// that put, and the sums would differ: so that put is in its backend's history up to the number too.
#include <cstdint>
#include <optional>

#include <polder/ds/collection_info.hpp>

namespace polder::ds {

// What a pass saw of empty backends.
struct tally {
  std::uint64_t backends = 0;  // changes of which backends there are
  std::uint64_t numbers = 0;
  friend bool operator==(const tally&, const tally&) noexcept = default;
};

struct exact_scan {
  static constexpr emptiness says = emptiness::exact;

  // pass(tally&): an element, or nothing from any backend and what it saw.
  template <class Pass>
  static auto over(Pass&& pass) {
    tally before;
    if (auto e = pass(before)) return e;
    for (;;) {
      tally now;
      auto e = pass(now);
      if (e || now == before) return e;
      before = now;
    }
  }
};

}  // namespace polder::ds
