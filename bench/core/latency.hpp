#pragma once
// latency — how long single calls of the heap take. It puts itself into the table of heap_calls, so that without it no
// call costs anything more.
//
// Of every thread one call in `every` is timed, on average: how many calls are let pass is drawn anew each time, so that
// no period of a workload can hide from it, and begins anywhere. Percentiles are those of all calls then; the worst is
// the worst of the timed ones, for a single slow call between them is not seen. With `every` = 1 each call is timed, and
// the worst is that of the run. What threads of the workload's own call is seen as well; what child processes call is
// not, nor what libc calls for itself.
#include <string_view>

#include "core/json.hpp"

namespace polder::bench::latency {

inline constexpr unsigned usual_every = 64;

// Before any worker starts. Histograms are memory of the harness, present from here on.
void watch(unsigned every, unsigned threads);

// The keys `latency`, `latency_every`, `latency_clock` and `latency_overhead_ns`; null where nothing was watched.
void print(json& out);

}  // namespace polder::bench::latency
