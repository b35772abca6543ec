// core: the heap profile. While it is on, every allocation comes here past the fast path (`direct` is empty, as in a hardened
// heap) and is counted in bytes; one that is drawn is noted with the stack that asked for it. Frees go on as ever: only in a
// span that has a sample in it, which its word says, each free asks whether it is one.
#include <iterator>

#include <polder/heap/polder/core.hpp>
#include <polder/heap/polder/outside.hpp>
#include <polder/mem/poisson.hpp>
#include <polder/mem/zeroed.hpp>
#include <polder/os/backtrace.hpp>
#include <polder/sync/install_once.hpp>

namespace polder::heap {

// ---- on and off ------------------------------------------------------------------------------------------------------

profiling core::start_profile(lab* own, std::uint64_t mean) noexcept {
  os::prepare_backtraces();
  const auto make = [mean] {
    auto* const fresh = mem::zeroed::make<mem::heap_profile>(1);
    if (fresh) fresh->mean = mean;
    return fresh;
  };
  const mem::heap_profile* const p =
      install_once(profile_, make, [](mem::heap_profile* fresh) { mem::zeroed::discard(fresh, 1); });
  if (!p) return profiling::no_memory;
  if (p->mean != mean) return profiling::other_mean;
  profiling_.store(1, order::relaxed);
  watched_.store(1, order::relaxed);
  tell_labs(own);
  return profiling::done;
}

void core::stop_profile(lab* own) noexcept {
  profiling_.store(0, order::relaxed);
  watched_.store(options_.hardened, order::relaxed);
  tell_labs(own);
}

// ---- allocation ------------------------------------------------------------------------------------------------------

// Small blocks come here when they are drawn, or the span is out of blocks: else polder_heap::take has them.
void* core::allocate_watched(lab& l, std::size_t n, std::size_t asked) noexcept {
  return counted(l, options_.hardened ? allocate_hardened(l, n) : allocate_unwatched(l, n), asked);
}

void* core::allocate_zeroed_watched(lab& l, std::size_t n) noexcept {
  void* const p = options_.hardened ? allocate_zeroed_hardened(l, n) : allocate_zeroed_unwatched(l, n);
  return counted(l, p, n);
}

void* core::counted(lab& l, void* p, std::size_t n) noexcept { return counted(l, p, n, n); }

// Of the n bytes of p `fresh` were not there before.
void* core::counted(lab& l, void* p, std::size_t n, std::size_t fresh) noexcept {
  if (p == nullptr || !is_profiling()) return p;
  l.until_sample -= fresh < PTRDIFF_MAX ? std::int64_t(fresh) : PTRDIFF_MAX;
  if (l.until_sample <= 0) [[unlikely]]
    draw(l, p, n, fresh);
  return p;
}

[[gnu::cold]] POLDER_NOINLINE void core::draw(lab& l, void* p, std::size_t n, std::size_t fresh) noexcept {
  mem::heap_profile& profile = *profile_.load(order::acquire);  // sync: installed
  if (!l.counts) {                                              // its first allocation under a profile
    l.counts = true;
    l.until_sample = mem::bytes_to_next_sample(l.random, profile.mean) - std::int64_t(fresh);
    if (l.until_sample > 0) return;
  }
  l.until_sample = mem::bytes_to_next_sample(l.random, profile.mean);
  const mem::grain g = arena_.find(address(p));
  const std::uint32_t w = g != 0 ? arena_.words()[g].load(order::relaxed) : 0;
  const bool small = mem::word::cls(w) - 1 < classes::count;
  if (small && mem::word::owner(w) != l.number) return;  // taken back just before the profile began
  void* frames[decltype(profile.sites)::deepest];
  const unsigned depth = os::backtrace(frames, std::size(frames), 0);
  if (!profile.add(p, n, frames, depth)) return;
  if (!small) return;  // the free of others asks anyway
  mem::span& s = arena_.spans()[g];
  s.sampled.fetch_add(1, order::relaxed);
  s.sampled_places.store(s.sampled_places.load(order::relaxed) | mem::span::place_kind(p), order::relaxed);
  arena_.words()[g].store(w | mem::word::sampled_bit, order::relaxed);
}

// ---- free ------------------------------------------------------------------------------------------------------------

// p, in a span with a sample or more, is about to be freed. Its word as it is from now on.
POLDER_NOINLINE std::uint32_t core::forget(mem::lab_number self, mem::grain g, std::uint32_t w,
                                           const void* p) noexcept {
  mem::span& s = arena_.spans()[g];
  const bool may_be_one = (s.sampled_places.load(order::relaxed) & mem::span::place_kind(p)) != 0;
  if (may_be_one && forget(p)) s.sampled.fetch_sub(1, order::relaxed);
  if (mem::word::owner(w) == self && s.sampled.load(order::relaxed) == 0) {
    s.sampled_places.store(0, order::relaxed);
    arena_.words()[g].store(w &= ~mem::word::sampled_bit, order::relaxed);
  }
  return w;
}

bool core::forget(const void* p) noexcept {
  mem::heap_profile* const profile = profile_.load(order::acquire);  // sync: installed
  return profile && profile->forget(p);
}

// p becomes a block of n bytes where it is, or moves with its pages: the sample moves with it. Between, nobody knows of it: the
// place where it was may be somebody else's as soon as it has moved. What the block grows by may make it a sample as any other bytes do;
// one that shrinks stays one as often as others of its size are.
void* core::resize_sampled(lab& l, mem::heap_profile& profile, void* p, std::size_t n) noexcept {
  const std::size_t had = usable_size(p);
  mem::sampled_block b;
  const bool sampled = profile.blocks.remove(p, b);
  void* const q = try_in_place(p, n);
  if (!sampled) return n > had ? counted(l, q, n, n - had) : q;
  if (q && had > mem::size_class::stepped::largest) {
    if (n < b.bytes && !mem::is_sample_still(l.random, b.bytes, n, profile.mean))
      return profile.sites.freed(b.site, b.bytes), q;
    profile.sites.resized(b.site, b.bytes, n);
    b = {q, n, b.site};
  }
  if (!profile.blocks.add(b)) {
    profile.sites.freed(b.site, b.bytes);
    profile.lost.fetch_add(1, order::relaxed);
  }
  return q;
}

// ---- what it says ----------------------------------------------------------------------------------------------------

// Of the memory around a block that nobody can use, as much as falls to it: what is free in its span and was not given back, in
// equal parts for the blocks that keep the span. Of a run or mapping, what was not asked for.
std::size_t core::waste_beside(const mem::sampled_block& b) const noexcept {
  const mem::grain g = arena_.find(address(b.block));
  if (g == 0) return 0;
  const atomic<std::uint32_t>& word = arena_.words()[g];
  const std::uint32_t w = word.load(order::acquire);  // sync: span-made
  const unsigned c = mem::word::cls(w);
  if (c == mem::word::large) {
    const std::size_t held = run_bytes(run_at(g), word);
    return held > b.bytes ? held - b.bytes : 0;
  }
  if (c == 0 || c > classes::count) return 0;
  const mem::span& s = arena_.spans()[g];
  const std::size_t out = blocks_outside(lab_at(mem::word::owner(w)), s, w), theirs = out * classes::block_size[c];
  const std::size_t held = mem::grain_size - returned_bytes(s, w, arena_.page());
  return out == 0 || held < theirs ? 0 : (held - theirs) / out;
}

}  // namespace polder::heap
