#pragma once
// script — a trace made ready to be replayed: each thread's steps in its own order, and for each step the one it must
// wait for. In mapped memory, filled before the replay begins.
#include <cstdint>

#include "core/mapped_array.hpp"
#include "trace/event.hpp"
#include "trace/reader.hpp"

namespace polder::trace {

inline constexpr std::uint32_t nothing = ~std::uint32_t{0};

struct step {
  std::uint64_t size = 0;
  std::uint32_t number = 0;  // of the event in the trace
  std::uint32_t object = nothing;
  std::uint32_t after = nothing;   // the event before on the same object, where another thread does it
  std::uint32_t after_thread = 0;  // which
  call what = call::malloc;
  std::uint8_t alignment_log2 = 0;
  bool makes = false;  // an object
  bool gone = false;
  bool remote = false;  // freed by another thread than the one that made it
};

struct thread_script {
  std::uint32_t first = 0;  // its steps: [first, first + count)
  std::uint32_t count = 0;
  std::uint32_t begins = nothing;  // the event of its first step
  std::uint32_t after = nothing;   // it is started after this event
  std::uint32_t after_thread = 0;
};

struct script {
  // Throws bad_trace.
  explicit script(reader& trace);

  bench::mapped_array<step> steps;
  bench::mapped_array<thread_script> threads;
  bench::mapped_array<std::uint32_t>
      order;  // the threads in the order in which they begin; those without a step are not there
  std::uint32_t objects = 0;
  std::uint32_t threads_that_run = 0;
  std::uint64_t skipped = 0;  // calls that failed when they were recorded
  std::uint64_t live_peak = 0;
};

}  // namespace polder::trace
