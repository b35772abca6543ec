#pragma once
// set_table — what the build makes of the registries: a function for each structure, in a translation unit of its own, that
// runs it under any reclaimer; and the rivals, structures of other libraries, for as many as the build found.
#include <cstdint>
#include <string_view>

#include <polder/smr/drain.hpp>

#include "core/run.hpp"

namespace polder::bench {

// What a run does, whatever the structure.
struct set_job {
  std::string_view structure;
  std::string_view reclaimer;
  smr::drain_policy drain;
  std::uint64_t keys;
  unsigned inserts, deletes, ranges;  // percent; the rest looks keys up
  std::uint64_t range_keys;           // how many keys a range spans
  unsigned theta;                     // hundredths; 0: uniform
  std::int64_t milliseconds;
  std::uint64_t steps;   // of each thread, however long they take; 0: milliseconds say
  unsigned timed_every;  // one operation in so many is timed, on average; 0: none
  bool frees;            // each free is timed
  bool pinned;           // threads to cores in turn
};

struct structure_entry {
  std::string_view name;
  // Null: it ran. Else why this job is not for it.
  const char* (*execute)(run&, const set_job&);
  bool rival = false;  // reclaims in its own way
};

// Ends with one that has no name. Made by the build from ds/all.hpp.
extern const structure_entry structure_table[];

// Rivals are in a module of their own, which is loaded by who asks for one: the libraries they come from are in no other
// run. It has a table like this one, by this name.
const char* execute_rival(run&, const set_job&);
inline constexpr char rival_table_name[] = "polder_bench_rivals";

}  // namespace polder::bench
