#include "trace/script.hpp"

#include <algorithm>

namespace polder::trace {
namespace {

// What the trace says of an object so far.
struct object_so_far {
  std::uint64_t size = 0;
  std::uint32_t last = nothing;
  std::uint32_t thread = 0;
  std::uint32_t maker = 0;
};

std::uint64_t checked_events(const file_header& about) {
  if (about.events >= nothing) throw bad_trace("too long to be replayed: it has 2^32 events or more");
  return about.events;
}

}  // namespace

script::script(reader& trace)
    : steps(checked_events(trace.about())),
      threads(trace.about().threads),
      order(trace.about().threads),
      objects(static_cast<std::uint32_t>(trace.about().objects)) {
  // In the order of the trace first, with the thread beside; then each to its thread's place.
  bench::mapped_array<step> in_order(steps.size());
  bench::mapped_array<std::uint32_t> thread_of(steps.size());
  bench::mapped_array<object_so_far> so_far(objects);
  std::uint32_t count = 0;
  std::uint64_t live = 0;
  event e;
  while (trace.next(e)) {
    if (e.failed) {
      ++skipped;
      continue;
    }
    step& s = in_order[count];
    s.size = e.size;
    s.number = count;
    s.what = e.what;
    s.alignment_log2 = e.alignment_log2;
    s.makes = e.makes();
    s.gone = e.gone;
    if (e.makes() || e.uses()) {
      s.object = e.object;
      object_so_far& o = so_far[e.object];
      if (e.makes()) o.maker = e.thread;
      s.remote = e.ends() && o.maker != e.thread;
      if (o.last != nothing && o.thread != e.thread) {
        s.after = o.last;
        s.after_thread = o.thread;
      }
      o.last = count;
      o.thread = e.thread;
      if (e.has_size() || e.ends()) {
        live += (e.ends() ? 0 : e.size) - o.size;
        o.size = e.ends() ? 0 : e.size;
        live_peak = std::max(live_peak, live);
      }
    }
    thread_script& t = threads[e.thread];
    if (t.begins == nothing) {
      t.begins = count;
      if (count > 0) {
        t.after = count - 1;
        t.after_thread = thread_of[count - 1];
      }
      order[threads_that_run++] = e.thread;
    }
    ++t.count;
    thread_of[count++] = e.thread;
  }
  std::uint32_t place = 0;
  for (thread_script& t : threads) {
    t.first = place;
    place += t.count;
    t.count = 0;
  }
  for (std::uint32_t n = 0; n < count; ++n) {
    thread_script& t = threads[thread_of[n]];
    steps[t.first + t.count++] = in_order[n];
  }
}

}  // namespace polder::trace
