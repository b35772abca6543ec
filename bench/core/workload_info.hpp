#pragma once
// workload_info — what a workload says of itself: `polder-bench list`, the arguments and the reports are made of it.
#include <cstdint>
#include <span>
#include <string_view>

namespace polder::bench {

struct parameter {
  std::string_view name;
  std::int64_t standard;  // scaled so that a run takes 0.3 to 2 s on two cores
  std::int64_t least;
  std::int64_t most;
  std::string_view unit;
  std::string_view what;
  std::string_view choices = {};  // "a|b|c": the value is a word, stored as its number
};

// Settings are "name=value name=value". A paper's values bear the paper's name; `…-scaled` is the same shape cut to
// the length of the defaults; `quick` takes 0.05 to 0.2 s at two threads; `smoke` is tiny and serves the tests.
struct preset {
  std::string_view name;
  std::string_view source;
  std::string_view settings;
};

struct workload_info {
  std::string_view name;
  std::string_view title;
  std::string_view paper;
  std::string_view what;   // what the threads do
  std::string_view shows;  // what of an allocator it tells
  std::span<const parameter> parameters;
  std::span<const preset> presets;
  unsigned most_threads = 256;
  // seeds; field: what was added since their papers; structures: its blocks are nodes of a structure of ds/, and it
  // records a timeline when asked.
  std::string_view group = "seeds";

  constexpr bool of_structures() const { return group == "structures"; }
};

}  // namespace polder::bench
