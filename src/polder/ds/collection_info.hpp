#pragma once
// collection_info — what the catalogue says of a queue, stack, deque or pool, and what a checker holds it to.
//
// A semantics is what may be observed, whatever the threads do at the same time:
//   linearizable             as one operation after the other, in an order that keeps what did not overlap
//   k_out_of_order           linearizable to a structure whose get takes one of the k + 1 elements that are next; k() says how
//                            many (Henzinger, Kirsch, Payer, Sezgin and Sokolova, POPL 2013)
//   locally_linearizable     for each thread, its own puts and the gets of what it put are linearizable (Haas et al.,
//                            CONCUR 2016)
//   quiescently_consistent   operations between two moments without any appear in some order that keeps those moments
//   pool                     no order: what comes out was put in, once
// Whether an empty answer is one of these observations is a matter of its own: see empty.
#include <cstdint>
#include <string_view>

#include <polder/ds/needs.hpp>

namespace polder::ds {

enum class shape : std::uint8_t { queue, stack, deque, pool };
enum class semantics : std::uint8_t {
  linearizable,
  k_out_of_order,
  locally_linearizable,
  quiescently_consistent,
  pool
};
enum class emptiness : std::uint8_t {
  exact,    // linearizable: it was empty at a moment within the call
  counted,  // exact by number: at a moment within the call no more elements were inside than gets at work, each of
            // which finds one; but one of these may take what is put later, and leave what was inside to another
  may_err,  // it may say so while elements that others are moving past it are inside; never when nobody else is at work
  waits,  // it never says so, it waits
};

struct collection_info {
  std::string_view name;
  std::string_view title;
  shape kind;
  semantics order;
  emptiness empty = emptiness::exact;
  bool conjectured = false;        // the semantics: its authors did not prove it
  std::string_view putters;        // progress of put: begins with wait-free, lock-free, blocking
  std::string_view getters;        // progress of get
  std::string_view capacity = {};  // in words; empty: unbounded
  unsigned most_putters = 0;       // at once, one after the other as many as you like; 0: any number
  unsigned most_getters = 0;       // the same
  std::string_view paper;
  int year;
  std::string_view parameters = {};  // besides element, reclaimer and memory; empty: none
  needs protection = needs::none;
};

constexpr std::string_view name_of(shape s) {
  constexpr std::string_view names[] = {"queue", "stack", "deque", "pool"};
  return names[unsigned(s)];
}
constexpr std::string_view name_of(semantics s) {
  constexpr std::string_view names[] = {"linearizable", "k-out-of-order", "locally linearizable",
                                        "quiescently consistent", "pool"};
  return names[unsigned(s)];
}
constexpr std::string_view name_of(emptiness e) {
  constexpr std::string_view names[] = {"exact", "counted", "may err", "waits"};
  return names[unsigned(e)];
}

}  // namespace polder::ds
