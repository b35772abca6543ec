// core: what the heap says about itself, read while threads work.
//
//   progress   wait-free: one pass over the grains in use and one over the LABs
//   in malloc  yes: allocates nothing; in a signal handler: yes
//
// A snapshot is torn where threads work meanwhile: what an owner writes is read as it comes, a figure that cannot be is bounded by
// what can, and `settled` sees to it that the sums are in order. When nobody is inside, it is exact. A full span, as most are in
// a large heap, is told by its word alone: of a gigabyte of small blocks 64 KiB are read instead of a megabyte.
#include <bit>

#include <polder/heap/polder/core.hpp>
#include <polder/heap/polder/outside.hpp>

namespace polder::heap {

// Calls v.small(word, blocks outside, bytes held), v.large(bytes), v.kept(bytes) or v.metadata() for what begins in each grain in use.
template <class Visitor>
void core::for_each_use(Visitor& v) const noexcept {
  const auto look = [&](mem::chunk_number from, mem::chunk_number to) {
    for (mem::chunk_number c = from; c < to; ++c) {
      if (!arena_.ready(c)) continue;
      for (std::uint64_t taken = arena_.chunk(c).taken.taken(); taken != 0; taken &= taken - 1) {
        const mem::grain g = c * mem::grains_per_chunk + unsigned(std::countr_zero(taken));
        const atomic<std::uint32_t>& word = arena_.words()[g];
        const std::uint32_t w = word.load(order::acquire);  // sync: span-made
        const unsigned cls = mem::word::cls(w);
        if (cls - 1 < classes::count) {
          const mem::span& s = arena_.spans()[g];
          v.small(w, blocks_outside(lab_at(mem::word::owner(w)), s, w),
                  mem::grain_size - returned_bytes(s, w, arena_.page()));
        } else if (mem::word::is_run(w)) {
          const std::size_t bytes = run_bytes(run_at(g), word);
          cls == mem::word::large ? v.large(bytes) : v.kept(bytes);
        } else if (cls == mem::word::metadata) v.metadata();
      }
    }
  };
  look(0, arena_.main_open());
  look(arena_.main_chunks(), arena_.main_chunks() + arena_.extra_open());
}

// Blocks by class that were freed and are not back in their spans.
struct core::waiting_blocks {
  std::uint64_t of[classes::count + 1] = {};
};

void core::count_waiting(waiting_blocks& into) const noexcept {
  for (unsigned c = 1; c <= classes::count; ++c) into.of[c] = sent_without_lab_[c].load(order::relaxed);
  const mem::lab_number made = labs_made();
  for (mem::lab_number n = 1; n <= made; ++n) {
    const lab& l = lab_at(n);
    for (unsigned c = 1; c <= classes::count; ++c) into.of[c] += l.sent[c].glimpse() - l.home[c].glimpse();
    if (const quarantine* const q = l.held.glimpse())
      q->glimpse_at_sizes([&](std::uint32_t bytes) { ++into.of[mem::size_class::stepped::of(bytes)]; });
  }
}

// Whether there are free blocks of class c that are not back in their spans.
bool core::some_wait(unsigned c) const noexcept {
  waiting_blocks all;
  count_waiting(all);
  return all.of[c] != 0;
}

statistics core::read_statistics(class_statistics* of_classes) const noexcept {
  struct {
    void small(std::uint32_t w, std::uint32_t blocks, std::size_t bytes) {
      ++spans[mem::word::cls(w)];
      outside[mem::word::cls(w)] += blocks;
      held[mem::word::cls(w)] += bytes;
    }
    void large(std::size_t bytes) { runs += bytes; }
    void kept(std::size_t bytes) { kept_runs += bytes; }
    void metadata() { ++grains_of_labs; }

    std::uint64_t spans[classes::count + 1] = {}, outside[classes::count + 1] = {};
    std::size_t held[classes::count + 1] = {};
    std::size_t runs = 0, kept_runs = 0, grains_of_labs = 0;
  } seen;
  for_each_use(seen);
  waiting_blocks waiting;
  count_waiting(waiting);

  statistics s;
  s.large = seen.runs + huge_.live_bytes() + guarded_.live_bytes();
  s.allocated = s.active = s.large;
  for (unsigned c = 1; c <= classes::count; ++c) {
    const std::uint64_t out = seen.outside[c];
    const std::uint64_t many =
        std::int64_t(waiting.of[c]) < 0 ? 0 : waiting.of[c];  // some were seen to come, not to go
    class_statistics k = {.block_size = classes::block_size[c],
                          .spans = seen.spans[c],
                          .waiting = many < out ? many : out,
                          .free = seen.spans[c] * capacity(c) - out,
                          .active = seen.held[c]};
    k.allocated = out - k.waiting;
    s.allocated += k.allocated * k.block_size;
    s.waiting += k.waiting * k.block_size;
    s.active += k.active;
    s.spans += k.spans;
    if (of_classes) of_classes[c - 1] = settled(k);
  }
  s.metadata = seen.grains_of_labs * mem::grain_size + arena_.table_bytes();
  const mem::grain_pool::counts grains = grains_.count();
  const std::size_t cached_mappings = huge_.cached_bytes();
  s.cached = grains.dirty * mem::grain_size + seen.kept_runs + cached_mappings;
  s.resident = s.active + s.cached + s.metadata;
  s.peak = budget_.peak();
  const std::size_t mappings = s.large - seen.runs + cached_mappings;
  s.mapped = arena_.committed_bytes() + mappings;
  s.reserved = arena_.whole().bytes + arena_.extra_bytes() + mappings;
  s.committed = budget_.used();
  s.limit = budget_.is_limited() ? budget_.limit() : 0;
  s.target = budget_.target() != mem::budget::none ? budget_.target() : 0;
  s.labs = labs_made();
  for (const atomic<std::uint64_t>& sent : sent_without_lab_) s.remote_frees += sent.load(order::relaxed);
  for (mem::lab_number n = 1; n <= s.labs; ++n) {
    const lab& l = lab_at(n);
    s.threads += l.door.is_owned();
    s.refills += l.refills.glimpse();
    for (const glimpsed<std::uint64_t>& sent : l.sent) s.remote_frees += sent.glimpse();
    s.posts += l.posts.glimpse();
  }
  return settled(s);
}

std::uint32_t core::read_labs(mem::lab_number first, std::span<lab_statistics> into) const noexcept {
  const mem::lab_number made = labs_made();
  std::uint32_t n = 0;
  for (; n < into.size() && first + n <= made; ++n) {
    const lab& l = lab_at(first + n);
    lab_statistics& s = into[n];
    s = {.number = l.number,
         .thread = l.door.owner(),
         .outbox = l.out.bytes(),
         .inbox = l.in_bytes.load(order::relaxed),
         .refills = l.refills.glimpse(),
         .posts = l.posts.glimpse()};
    for (const glimpsed<std::uint64_t>& sent : l.sent) s.remote_frees += sent.glimpse();
  }
  struct {
    void small(std::uint32_t w, std::uint32_t blocks, std::size_t bytes) {
      const mem::lab_number at = mem::word::owner(w) - first;
      if (at >= count) return;
      const std::size_t used = std::size_t{blocks} * classes::block_size[mem::word::cls(w)];
      ++of[at].spans;
      of[at].used += used;
      of[at].free += bytes > used ? bytes - used : 0;
    }
    void large(std::size_t) {}
    void kept(std::size_t) {}
    void metadata() {}

    lab_statistics* const of;
    const mem::lab_number first;
    const std::uint32_t count;
  } seen{into.data(), first, n};
  for_each_use(seen);
  return n;
}

}  // namespace polder::heap
