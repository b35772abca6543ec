#include <polder/mem/grain_pool.hpp>

#include <bit>

#include <polder/base/check.hpp>
#include <polder/os/timeline.hpp>
#include <polder/sync/noted.hpp>

namespace polder::mem {
namespace {

std::uint64_t dirty_and_free(const chunk& k) { return k.dirty.load(order::relaxed) & ~k.taken.taken(); }

// Calls f(position, length) for each run of set bits, lowest first.
template <class F>
void for_each_run(std::uint64_t bits, F f) {
  while (bits != 0) {
    const unsigned at = unsigned(std::countr_zero(bits));
    const unsigned n = unsigned(std::countr_one(bits >> at));
    f(at, n);
    bits &= ~ones(at, n);
  }
}

// Calls f(chunk, position, length) for the part of a run in each of its chunks; f returns false to stop.
template <class F>
bool for_each_part(grain first, unsigned n, F f) {
  while (n != 0) {
    const unsigned at = position_in_chunk(first);
    const unsigned here = n < grains_per_chunk - at ? n : grains_per_chunk - at;
    if (!f(chunk_of(first), at, here)) return false;
    first += here;
    n -= here;
  }
  return true;
}

}  // namespace

// The halves of a chunk, a huge page each, that hold some of `grains`.
constexpr std::uint64_t halves_with(std::uint64_t grains) {
  constexpr std::uint64_t lower = ones(0, grains_per_chunk / 2);
  return ((grains & lower) != 0 ? lower : 0) | ((grains & ~lower) != 0 ? ~lower : 0);
}

// Bit i of the result: some bit of `word` in i … i+n-1 is set.
constexpr std::uint64_t starts_that_touch(std::uint64_t word, unsigned n) {
  for (unsigned have = 1; have < n;) {
    const unsigned step = have < n - have ? have : n - have;
    word |= word >> step;
    have += step;
  }
  return word;
}

// Those of the grains before or behind which is none that is open; all, if there is none. From the middle of what a run left behind, a
// single grain would leave no room for another such run.
constexpr std::uint64_t at_an_end(std::uint64_t grains, std::uint64_t open) {
  const std::uint64_t ends = grains & ~(open << 1 & open >> 1);
  return ends != 0 ? ends : grains;
}

// A huge page is worth having for memory that will be touched all over: runs, and spans of a class of which some were filled, or
// where they are many for each thread. What one of them leaves empty must be little of the heap.
bool grain_pool::is_worth_huge_pages(density d, chunk_number open) const noexcept {
  if (!huge_pages_ || d == density::apart || arena_.no_huge_pages() || arena_.committed().is_narrow()) return false;
  if (d != density::sparse)
    return open * chunk_size >= large_heap || (d == density::dense && os::data_limit() == SIZE_MAX);
  const counts n = count();
  return (n.taken + n.dirty) * grain_size + chunk_size >= large_heap + threads_.load(order::relaxed) * each_thread;
}

bool grain_pool::wants_huge_pages_next(density d) noexcept {
  return is_worth_huge_pages(d, arena_.main_open() + 1) && (d != density::whole || samples_.say_huge_next(arena_));
}

// 2^scale >= n
unsigned grain_pool::scale_of(unsigned n, density d) noexcept {
  if (n > 1) return floor_log2(n - 1) + 1;
  return d == density::whole ? whole_single : d == density::dense ? dense_single : 0;
}

// Position of a run of n free grains in chunk c, now ours; run_bitmap::none if there is none.
unsigned grain_pool::take_in(chunk_number c, unsigned n, want w) noexcept {
  chunk& k = arena_.chunk(c);
  for (;;) {
    const std::uint64_t dirty = w == want::any ? 0 : k.dirty.load(order::relaxed);
    const std::uint64_t open = ~k.taken.taken();
    const std::uint64_t usable = w == want::dirty ? open & dirty : open;
    std::uint64_t starts = starts_of_runs(usable, n);
    if (w == want::dirty_in_part) starts &= starts_that_touch(dirty, n);
    if (starts == 0) return run_bitmap::none;
    if (k.kind.load(order::relaxed) == page_kind::huge) {
      // One that is begun brings in all of itself: so first what lies in such a one from end to end.
      const std::uint64_t begun = halves_with(~open | k.dirty.load(order::relaxed));
      if (begun != 0 && ~begun != 0) {
        if (const std::uint64_t inside = starts & starts_of_runs(usable & begun, n); inside != 0) starts = inside;
      }
    }
    // Holes that fit exactly first; otherwise single grains from below and runs from above, so that spans, which live
    // long and scattered, do not cut up the room for runs.
    const std::uint64_t exact = starts & ~(usable << 1) & ~starts_of_runs(usable, n + 1);
    if (exact != 0) starts = exact;
    else if (n == 1) starts = at_an_end(starts, open);
    const unsigned at = unsigned(n == 1 ? std::countr_zero(starts) : 63 - std::countl_zero(starts));
    if (k.taken.try_take_at(at, n)) return at;
  }
}

void grain_pool::count_change(std::int64_t taken, std::int64_t dirty) noexcept {
  const std::uint64_t change = std::uint64_t(taken) * (std::uint64_t{1} << 32) + std::uint64_t(dirty);
  count_.fetch_add(change, order::relaxed);
}

bool grain_pool::too_much_spare() const noexcept {
  const std::uint64_t n = count_.load(order::relaxed);
  const std::uint64_t in_use = n >> 32, spare = std::uint32_t(n);
  return spare * grain_size > MiB + worth_keeping_beside(in_use * grain_size);
}

// Where anybody can have them, and finds them. False: they were not all taken.
POLDER_ALWAYS_INLINE bool grain_pool::free_part(chunk_number c, unsigned at, unsigned n, bool dirty) noexcept {
  chunk& k = arena_.chunk(c);
  if (!k.taken.give(at, n)) return false;
  if (dirty) note(arena_.summary(c), arena::summary_bit(c));
  if (c < arena_.main_chunks()) {
    note_free(c, no_site);
    if (const site s = k.site.load(order::relaxed)) note_free(c, s);
  }
  return true;
}

// The same for grains that were held and not used, by who purges or by who could not have all of a run. Who searched meanwhile saw
// none here, and went past: so it is noted again what there is.
[[gnu::cold]] POLDER_NOINLINE bool grain_pool::free_again(chunk_number c, unsigned at, unsigned n) noexcept {
  return free_part(c, at, n, (arena_.chunk(c).dirty.load(order::relaxed) & ones(at, n)) != 0);
}

// `were_dirty`: for each part of the run.
[[gnu::cold]] POLDER_NOINLINE void grain_pool::put_back(grain first, unsigned n,
                                                        const std::uint64_t* were_dirty) noexcept {
  for_each_part(first, n, [&](chunk_number c, unsigned at, unsigned here) {
    const std::uint64_t dirty = *were_dirty++;
    arena_.chunk(c).dirty.fetch_or(dirty, order::relaxed);  // before the grains are free: run-give publishes it
    return free_part(c, at, here, dirty != 0);
  });
}

// Whoever has them now may write there.
void grain_pool::forget_lists(chunk_number c, std::uint64_t grains) noexcept {
  for (; grains != 0; grains &= grains - 1) {
    auto& word = arena_.words()[c * grains_per_chunk + unsigned(std::countr_zero(grains))];
    if (word.load(order::relaxed) != 0) word.store(0, order::relaxed);
  }
}

// What is known of grains that have just become ours. Clean ones are memory of the system's from now on: where that may not
// be, they are put back as they were found.
grain_pool::run grain_pool::taken(grain first, unsigned n) noexcept {
  std::uint64_t were_dirty[most_parts];
  unsigned parts = 0, dirty_ones = 0;
  const std::uint32_t list = arena_.words()[first].load(order::relaxed);
  for_each_part(first, n, [&](chunk_number c, unsigned at, unsigned here) {
    chunk& k = arena_.chunk(c);
    const std::uint64_t dirty = k.dirty.load(order::relaxed) & ones(at, here);
    if (dirty != 0) {
      k.dirty.fetch_and(~dirty, order::relaxed);
      forget_lists(c, dirty);
    }
    were_dirty[parts++] = dirty;
    dirty_ones += unsigned(std::popcount(dirty));
    return true;
  });
  if (dirty_ones < n && !make_room(n - dirty_ones)) return put_back(first, n, were_dirty), run{};
  count_change(n, -std::int64_t{dirty_ones});
  if (dirty_ones < n && too_much_spare() && !is_stuck()) purge_spare(n - dirty_ones);
  const bool begins_dirty = (were_dirty[0] >> position_in_chunk(first) & 1) != 0;
  return {first, dirty_ones == 0, !begins_dirty, list};
}

// Memory that is locked, or a kernel that keeps what it is asked to drop: to ask again at each run that is taken would cost as much as
// there is dirty, each time.
bool grain_pool::is_stuck() const noexcept {
  const std::uint32_t then = stuck_at_.load(order::relaxed), now = std::uint32_t(count_.load(order::relaxed));
  return then != 0 && (now > then ? now - then : then - now) <= then / 8;
}

// What can be had without splitting huge pages first: they would be faulted in as small ones.
std::size_t grain_pool::purge_spare(std::size_t grains, bool lazy_ones) noexcept {
  const std::size_t budget = grains * grain_size;
  std::size_t had = 0;
  for (const bool splits : {false, true}) {
    chunk_number from = spare_from_.load(order::relaxed);
    had += purge({.what = which::all, .budget = budget - had, .splits = splits, .lazy_ones = lazy_ones}, from);
    spare_from_.store(from, order::relaxed);
    if (had >= budget) break;
  }
  stuck_at_.store(had == 0 ? std::uint32_t(count().dirty) : 0, order::relaxed);
  return had;
}

// So many grains of the budget, for which dirty ones go where they are in the way.
bool grain_pool::make_room(std::size_t grains) noexcept {
  budget& b = arena_.committed();
  while (b.is_short(grains * grain_size) && count().dirty != 0 && purge_spare(grains, true) != 0) {
  }
  return b.take(grains * grain_size);
}

// Chunks whose summary bit is set, from `begin` upwards, then the extra ones; f returns true to stop.
template <class F>
bool grain_pool::for_each_dirty_chunk(chunk_number begin, F f) noexcept {
  const auto sweep = [&](chunk_number from, chunk_number to) {
    for (chunk_number c = from; c < to;) {
      const std::uint64_t bits = arena_.summary(c).load(order::relaxed) >> (c % 64);
      if (bits == 0) {
        c = (c / 64 + 1) * 64;
        continue;
      }
      c += unsigned(std::countr_zero(bits));
      if (c >= to) break;
      if (arena_.ready(c) && f(c)) return true;
      ++c;
    }
    return false;
  };
  const chunk_number extra = arena_.main_chunks();
  if (begin < extra && sweep(begin, arena_.main_open())) return true;
  return sweep(begin > extra ? begin : extra, extra + arena_.extra_open());
}

grain grain_pool::take_dirty(unsigned n, want w, trail& t, site s) noexcept {
  grain found = 0;
  const auto try_chunk = [&](chunk_number c) {
    if (!suits(c, s)) return false;
    const unsigned at = take_in(c, n, w);
    if (at != run_bitmap::none) {
      found = c * grains_per_chunk + at;
      t.chunk = c;
      return true;
    }
    chunk& k = arena_.chunk(c);
    if (dirty_and_free(k) == 0) {
      forget(arena_.summary(c), arena::summary_bit(c), [&k] { return dirty_and_free(k) != 0; });
    }
    return false;
  };
  if (!for_each_dirty_chunk(t.chunk, try_chunk) && t.chunk != 0) for_each_dirty_chunk(0, try_chunk);
  return found;
}

// Dirty grains that the caller gave lately and nobody has taken since. Of a chunk that is gone, all are taken.
grain grain_pool::take_back(unsigned n, trail& t, site s) noexcept {
  while (const grain g = t.step_back(n)) {
    const chunk_number c = chunk_of(g);
    const unsigned at = position_in_chunk(g);
    if (!suits(c, s)) continue;
    chunk& k = arena_.chunk(c);
    const std::uint64_t all = ones(at, n);
    if ((k.dirty.load(order::relaxed) & all) != all || !k.taken.try_take_at(at, n)) continue;
    t.chunk = c;
    return g;
  }
  return 0;
}

grain_pool::run grain_pool::take(unsigned n, trail& t, site s, density d) noexcept {
  const os::timeline::span told{os::timeline::kind::span_get, n, n * grain_size};
  if (n > 1 && d != density::apart) d = density::whole;
  const auto take_of = [&](site of) {
    return n <= grains_per_chunk ? take_short(n, t, of, d) : take_long(n, of, d);
  };
  const run r = take_of(s);
  return r.first == 0 && s != no_site ? take_of(no_site) : r;
}

grain_pool::run grain_pool::take_short(unsigned n, trail& t, site s, density d) noexcept {
  const bool apart = d == density::apart;
  if (std::uint32_t(count_.load(order::relaxed)) != 0) {
    grain g = take_back(n, t, s);
    if (g == 0) g = take_dirty(n, want::dirty, t, s);
    if (g == 0 && n > 1 && !apart) g = take_dirty(n, want::dirty_in_part, t, s);
    if (g != 0) return taken(g, n);
  }
  // What is to be dense lies in huge pages from when on they are worth it, and what is sparse in none before.
  const auto fits = [&](page_kind kind, bool worth) {
    if (kind == page_kind::huge) return !is_sparse(d) || (worth && d == density::sparse);
    return kind != page_kind::small || is_sparse(d) || !worth;
  };
  const auto sweep = [&](chunk_number from, chunk_number to, want w) -> grain {
    const bool worth = is_worth_huge_pages(d, arena_.main_open());
    for (chunk_number c = from; c < to; ++c) {
      if (!arena_.ready(c) || !suits(c, s)) continue;
      if (w == want::fitting && !fits(arena_.chunk(c).kind.load(order::relaxed), worth)) continue;
      const unsigned at = take_in(c, n, w);
      if (at == run_bitmap::none) continue;
      t.chunk = c;
      return c * grains_per_chunk + at;
    }
    return 0;
  };
  atomic<chunk_number>& lowest = lowest_[s][scale_of(n, d)];
  for (;;) {
    const chunk_number open = arena_.main_open();
    chunk_number from = lowest.load(order::relaxed);
    if (from > open || apart) from = 0;
    const grain g = sweep(from, open, want::fitting);
    // Where no run of n is, none of the scale's own size is, which is no shorter.
    if (!apart) lowest.cas(from, g != 0 ? chunk_of(g) : open, order::relaxed, order::relaxed);
    if (g != 0) return taken(g, n);
    const chunk_number extra = arena_.main_chunks();
    if (const grain e = sweep(extra, extra + arena_.extra_open(), want::any)) return taken(e, n);
    if (!arena_.open_more(n, s, wants_huge_pages_next(d))) break;
  }
  // The system refuses more room. The hints may have hidden something: look everywhere before saying so.
  if (const grain g = sweep(0, arena_.main_open(), want::any)) return taken(g, n);
  return {};
}

// How many grains from `first` on are free and suit, as far as is known; looks no further than `wanted`.
unsigned grain_pool::free_from(grain first, unsigned wanted, site s) const noexcept {
  unsigned n = 0;
  for_each_part(first, wanted, [&](chunk_number c, unsigned at, unsigned here) {
    if (c >= arena_.main_open() || !suits(c, s)) return false;
    const unsigned open = unsigned(std::countr_zero(arena_.chunk(c).taken.taken() >> at));
    n += open < here ? open : here;
    return open >= here;
  });
  return n;
}

// All of a run that may lie across chunks, or nothing.
bool grain_pool::try_take_range(grain first, unsigned n) noexcept {
  unsigned had = 0;
  const bool all = for_each_part(first, n, [&](chunk_number c, unsigned at, unsigned here) {
    if (!arena_.chunk(c).taken.try_take_at(at, here)) return false;
    had += here;
    return true;
  });
  if (!all)
    for_each_part(first, had, [&](chunk_number c, unsigned at, unsigned here) { return free_again(c, at, here); });
  return all;
}

unsigned grain_pool::dirty_in(grain first, unsigned n) const noexcept {
  unsigned dirty = 0;
  for_each_part(first, n, [&](chunk_number c, unsigned at, unsigned here) {
    dirty += unsigned(std::popcount(arena_.chunk(c).dirty.load(order::relaxed) & ones(at, here)));
    return true;
  });
  return dirty;
}

// Of the runs that begin with the free end of a chunk, the one with most memory already there. Main arena only: extra
// chunks have no neighbours.
grain_pool::run grain_pool::take_long(unsigned n, site s, density d) noexcept {
  for (;;) {
    const chunk_number open = arena_.main_open();
    grain best = 0;
    unsigned best_dirty = 0;
    for (chunk_number c = 0; c < open && best_dirty < n; ++c) {
      const unsigned end = unsigned(std::countl_zero(arena_.chunk(c).taken.taken()));
      if (end == 0 || (d == density::apart && arena_.chunk(c).kind.load(order::relaxed) == page_kind::huge))
        continue;
      const grain first = (c + 1) * grains_per_chunk - end;
      const unsigned found = free_from(first, n, s);
      if (found == n) {
        const unsigned dirty = dirty_in(first, n);
        if (best != 0 && dirty <= best_dirty) continue;
        best = first;
        best_dirty = dirty;
      } else if (found > end) {
        c += (found - end) / grains_per_chunk;  // what was seen free is too short from anywhere in it
      }
    }
    if (best != 0) {
      if (try_take_range(best, n)) return taken(best, n);
      continue;  // another thread was faster
    }
    // Chunk by chunk, so that what is free at the end is part of it; but with a site enough at once, for between two calls
    // another thread may open one of another site.
    if (open >= arena_.main_chunks() ||
        !arena_.open_more(s == no_site ? grains_per_chunk : n, s, wants_huge_pages_next(d)))
      return {};
  }
}

bool grain_pool::extend(grain first, unsigned have, unsigned more, bool& zero) noexcept {
  const grain next = first + have;
  if (chunk_of(next) >= arena_.main_chunks()) {
    if (position_in_chunk(next) + more > grains_per_chunk || position_in_chunk(next) == 0) return false;
    if (!try_take_range(next, more)) return false;
  } else if (free_from(next, more, arena_.chunk(chunk_of(first)).site.load(order::relaxed)) < more ||
             !try_take_range(next, more)) {
    return false;
  }
  const run r = taken(next, more);
  zero = r.zero;
  return r.first != 0;
}

bool grain_pool::give(grain first, unsigned n, left l, std::size_t gone, std::uint32_t list) noexcept {
  const os::timeline::span told{os::timeline::kind::span_put, n, n * grain_size};
  const bool dirty = l != left::zero;
  count_change(-std::int64_t{n}, dirty ? n : 0);
  if (!dirty) arena_.committed().give(n * grain_size - gone);
  if (list != 0) arena_.words()[first].store(list, order::relaxed);  // run-give publishes it
  return for_each_part(first, n, [&](chunk_number c, unsigned at, unsigned here) {
    const std::uint64_t mask = ones(at, here);
    chunk& k = arena_.chunk(c);
    if (dirty) {
      if (l == left::aged) k.aged.fetch_or(mask, order::relaxed);
      else if (k.aged.load(order::relaxed) & mask) k.aged.fetch_and(~mask, order::relaxed);
      if (k.released.load(order::relaxed) & mask) k.released.fetch_and(~mask, order::relaxed);
      k.dirty.fetch_or(mask, order::relaxed);  // before the grains are free: run-give publishes it
    }
    return free_part(c, at, here, dirty);
  });
}

void grain_pool::note_free(chunk_number c, site s) noexcept {
  for (auto& lowest : lowest_[s]) {
    chunk_number known = lowest.load(order::relaxed);
    while (c < known && !lowest.cas(known, c, order::relaxed, order::relaxed)) {
    }
  }
}

// A kernel, an emulator or a filter may say that it dropped the pages and not do it: then the mark is still there.
os::discarded grain_pool::discard(std::byte* p, std::size_t bytes, bool lazily, std::byte* at) noexcept {
  auto* const mark = reinterpret_cast<volatile std::uint64_t*>(at);
  *mark = ~std::uint64_t{0};
  const os::discarded how = lazily ? os::discard_lazily(p, bytes) : os::discard_now(p, bytes);
  return how == os::discarded::zeroed && *mark != 0 ? os::discarded::refused : how;
}

// Part of a huge page goes: the kernel must not make it whole again behind our back.
void grain_pool::split(chunk_number c) noexcept {
  if (arena_.chunk(c).kind.load(order::relaxed) == page_kind::huge) arena_.turn(c, page_kind::small_again);
}

void grain_pool::split_huge_pages(grain first, unsigned n) noexcept {
  for_each_part(first, n, [&](chunk_number c, unsigned at, unsigned here) {
    const std::uint64_t going = ones(at, here);
    if ((halves_with(arena_.chunk(c).taken.taken() & ~going) & going) != 0) split(c);
    return true;
  });
}

bool grain_pool::discard_within(grain g, std::uint32_t pages) noexcept {
  split(chunk_of(g));
  const std::size_t page = arena_.page();
  bool dropped = true;
  for_each_run(pages, [&](unsigned at, unsigned n) {
    std::byte* const p = arena_.address_of(g) + at * page;
    dropped = discard(p, n * page, false, p) == os::discarded::zeroed && dropped;
  });
  return dropped;
}

std::size_t grain_pool::purge_chunk(chunk_number c, const purge_options& o) noexcept {
  chunk& k = arena_.chunk(c);
  std::size_t bytes = 0;
  const std::uint64_t taken = k.taken.taken(), dirty = k.dirty.load(order::relaxed);
  const std::uint64_t candidates =
      dirty & ~taken & (o.lazy_ones ? ~std::uint64_t{0} : ~k.released.load(order::relaxed));
  std::uint64_t old = o.what == which::all ? candidates : candidates & k.aged.load(order::relaxed);
  const std::uint64_t young = candidates & ~old;
  const page_kind kind = k.kind.load(order::relaxed);
  std::uint64_t beside = 0;
  if (kind == page_kind::huge) {
    const std::uint64_t in_use = halves_with(taken);
    if (!o.splits) old &= ~in_use;
    else if ((old & in_use) != 0) split(c);
  }
  // A huge page brought in what lies beside as well, which nobody has written to. It may still be there when the chunk has long
  // been split, on account of its other half. Where all is to go, that is so beside grains in use, too.
  const bool all_goes = o.what == which::all && o.splits && old != 0;
  if (kind != page_kind::small) beside = halves_with(all_goes ? old | taken : old) & ~taken & ~dirty;
  if (kind == page_kind::huge && (beside & halves_with(taken)) != 0) split(c);
  for_each_run(old | beside, [&](unsigned at, unsigned n) {
    const std::uint64_t mask = ones(at, n);
    if (!k.taken.try_take_at(at, n)) return;  // somebody took part of it: it is in use again
    // Another purge may have been here since we looked: a clean grain must not get our mark, nor be counted twice.
    const std::uint64_t ours = k.dirty.load(order::relaxed) & mask;
    if ((old & mask & ~ours) != 0) return static_cast<void>(free_again(c, at, n));
    const grain first = c * grains_per_chunk;
    std::byte* const p = arena_.address_of(first + at);
    if (ours == 0) {
      os::discard_now(p, n * grain_size);  // whatever comes of it, it reads as zero
      return static_cast<void>(free_again(c, at, n));
    }
    std::byte* const mark = arena_.address_of(first + unsigned(std::countr_zero(ours)));
    forget_lists(c, ours);
    const os::discarded how = discard(p, n * grain_size, o.lazily, mark);
    const auto dropped = unsigned(std::popcount(ours));
    if (how == os::discarded::zeroed) {
      k.dirty.fetch_and(~mask, order::relaxed);
      count_change(0, -std::int64_t{dropped});
      arena_.committed().give(dropped * grain_size);
      bytes += dropped * grain_size;
    } else if (how == os::discarded::lazily) {
      k.released.fetch_or(ours, order::relaxed);
      bytes += dropped * grain_size;
    }
    POLDER_CHECK(1, (k.taken.taken() & mask) == mask);
    static_cast<void>(free_again(c, at, n));
  });
  k.aged.fetch_or(young, order::relaxed);
  const bool empty = (k.taken.taken() | k.dirty.load(order::relaxed)) == 0;
  if (kind == page_kind::small_again && empty && !arena_.committed().is_narrow()) arena_.turn(c, page_kind::huge);
  return bytes;
}

std::size_t grain_pool::purge(const purge_options& o, chunk_number& from) noexcept {
  std::size_t bytes = 0;
  const bool stopped = for_each_dirty_chunk(from, [&](chunk_number c) {
    bytes += purge_chunk(c, o);
    from = c + 1;
    return bytes >= o.budget;
  });
  if (!stopped) from = 0;
  return bytes;
}

void grain_pool::release_extra_chunks(which w) noexcept {
  const chunk_number first = arena_.main_chunks();
  for (chunk_number c = first; c < first + arena_.extra_open(); ++c) {
    chunk& k = arena_.chunk(c);
    if (w == which::aged && k.dirty.load(order::relaxed) != 0) continue;
    const unsigned n = arena_.try_take_extra(c);
    if (n == 0) continue;
    const std::uint64_t dirty = k.dirty.load(order::relaxed) & ones(0, n);
    k.dirty.store(0, order::relaxed);  // before the number may be another chunk's
    forget_lists(c, dirty);
    if (arena_.close_extra(c)) {
      count_change(0, -std::popcount(dirty));
      arena_.committed().give(std::size_t(std::popcount(dirty)) * grain_size);
      continue;
    }
    k.dirty.store(dirty, order::relaxed);
    static_cast<void>(k.taken.give(0, n));
    note(arena_.summary(c), arena::summary_bit(c));
  }
}

grain_pool::counts grain_pool::count() const noexcept {
  const std::uint64_t n = count_.load(order::relaxed);
  return {.taken = std::size_t(n >> 32), .dirty = std::uint32_t(n)};
}

}  // namespace polder::mem
