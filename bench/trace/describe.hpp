#pragma once
// describe — what a trace's program asked of malloc: sizes, lives, who frees what whose, how much was alive. One JSON line.
#include <string>

#include "trace/reader.hpp"

namespace polder::trace {

// Throws bad_trace.
std::string describe(reader& trace);

}  // namespace polder::trace
