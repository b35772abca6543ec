#pragma once
// replay — the calls of a trace again, by as many threads, under the malloc of this process. One JSON line.
#include <cstdint>
#include <string_view>

#include "trace/script.hpp"

namespace polder::trace {

// Across threads: every call in the trace's order, one at a time; or what depends on each other in order, and the rest as
// it comes, no thread further ahead of the slowest than `window` calls.
enum class order : std::uint8_t { dependencies, strict };

// What is written into a block before it is passed on.
enum class touch : std::uint8_t { none, ends, pages };

struct replay_options {
  trace::order order = trace::order::dependencies;
  trace::touch touch = trace::touch::ends;
  std::uint32_t window = 1000;
  std::uint32_t repeat = 1;
};

// Prints the line; the exit status.
int replay(const script& plan, std::string_view program, const replay_options& options);

}  // namespace polder::trace
