// core: what the heap says about itself.
#include <polder/heap/polder/core.hpp>
#include <polder/heap/polder/outside.hpp>

namespace polder::heap {

// A snapshot, torn where threads work meanwhile.
statistics core::read_statistics() const noexcept {
  statistics s;
  const auto look = [&](mem::chunk_number from, mem::chunk_number to) {
    for (mem::chunk_number c = from; c < to; ++c) {
      if (!arena_.ready(c)) continue;
      for (unsigned i = 0; i < mem::grains_per_chunk; ++i) {
        const mem::grain g = c * mem::grains_per_chunk + i;
        const std::uint32_t w = arena_.words()[g].load(order::acquire);  // sync: span-made
        const unsigned cls = mem::word::cls(w);
        if (cls == mem::word::large) {
          const std::size_t bytes = grains_outside(reinterpret_cast<const mem::large_run&>(arena_.spans()[g]))
                                    << mem::grain_shift;
          s.large += bytes;
          s.allocated += bytes;
          s.active += bytes;
        } else if (cls == mem::word::metadata) {
          s.metadata += mem::grain_size;
        } else if (cls != 0 && cls <= classes::count) {
          s.allocated += blocks_outside(arena_.spans()[g], cls) * classes::block_size[cls];
          s.active += mem::grain_size;
          ++s.spans;
        }
      }
    }
  };
  look(0, arena_.main_open());
  look(arena_.main_chunks(), arena_.main_chunks() + arena_.extra_open());
  const std::size_t huge = huge_.live_bytes() + guarded_.live_bytes();
  s.large += huge;
  s.allocated += huge;
  s.active += huge;
  s.metadata += arena_.table_bytes();
  const mem::grain_pool::counts grains = grains_.count();
  s.cached = grains.dirty * mem::grain_size + huge_.cached_bytes();
  s.resident = s.active + s.cached + s.metadata;
  s.peak = grains.peak * mem::grain_size + huge_.peak_bytes() + arena_.table_bytes();
  if (s.peak < s.resident) s.peak = s.resident;
  s.mapped = arena_.committed_bytes() + huge + huge_.cached_bytes();
  if (s.mapped < s.resident) s.mapped = s.resident;
  s.reserved =
      arena_.whole().bytes + std::size_t{arena_.extra_open()} * mem::chunk_size + huge + huge_.cached_bytes();
  s.committed = budget_.used();
  s.limit = budget_.is_limited() ? budget_.limit() : 0;
  s.target = budget_.target() != mem::budget::none ? budget_.target() : 0;
  s.labs = labs_made();
  std::size_t confined = 0;  // freed, as the program sees it
  for (mem::lab_number n = 1; n <= s.labs; ++n) {
    const lab& l = lab_at(n);
    const lab_state state = l.door.state();
    s.threads += state == lab_state::running || state == lab_state::claimed;
    s.refills += glimpse(l.refills);
    s.remote_frees += glimpse(l.remote_frees);
    s.posts += glimpse(l.posts);
    if (const quarantine* const q = glimpse(l.held)) confined += q->bytes();
  }
  s.allocated -= confined < s.allocated ? confined : s.allocated;
  return s;
}

}  // namespace polder::heap
