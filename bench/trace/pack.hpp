#pragma once
// pack — a raw recording to a trace: the threads' records into one order by their tickets, addresses to object numbers.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trace/raw_format.hpp"
#include "trace/trace_format.hpp"

namespace polder::trace {

// Of what is one; throws bad_trace.
raw::header raw_header(std::span<const std::uint8_t> recording);

// `put` gets chunk after chunk; the header, which stands before them, is what is returned. Throws bad_trace. A recording
// that ends early or within a record is good up to there.
file_header pack(std::span<const std::uint8_t> recording,
                 const std::function<void(const std::vector<std::uint8_t>&)>& put);

}  // namespace polder::trace
