#include <polder/mem/grain_pool.hpp>

#include <bit>

#include <polder/base/check.hpp>
#include <polder/os/pages.hpp>

namespace polder::mem {
namespace {

constexpr unsigned scale_of(unsigned n) { return n <= 1 ? 0 : floor_log2(n - 1) + 1; }  // 2^scale >= n

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

}  // namespace

// Position of a run of n free grains in chunk c, now ours; run_bitmap::none if there is none.
unsigned grain_pool::take_in(chunk_number c, unsigned n, bool dirty_only) noexcept {
  chunk& k = arena_.chunk(c);
  for (;;) {
    const std::uint64_t taken = k.taken.taken();
    const std::uint64_t unwanted = dirty_only ? ~k.dirty.load(order::relaxed) : 0;
    const unsigned at = run_bitmap::first_fit(taken | unwanted, n);
    if (at == run_bitmap::none) return at;
    if (k.taken.try_take_at(at, n)) return at;
  }
}

grain_pool::run grain_pool::taken(chunk_number c, unsigned at, unsigned n) noexcept {
  chunk& k = arena_.chunk(c);
  const std::uint64_t mask = ones(at, n);
  const bool zero = (k.dirty.load(order::relaxed) & mask) == 0;  // stable: the grains are ours
  if (!zero) k.dirty.fetch_and(~mask, order::relaxed);
  return {c * grains_per_chunk + at, zero};
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

grain grain_pool::take_dirty(unsigned n, chunk_number& hint) noexcept {
  grain found = 0;
  const auto try_chunk = [&](chunk_number c) {
    const unsigned at = take_in(c, n, true);
    if (at != run_bitmap::none) {
      found = c * grains_per_chunk + at;
      hint = c;
      return true;
    }
    chunk& k = arena_.chunk(c);
    if ((k.dirty.load(order::relaxed) & ~k.taken.taken()) == 0) {
      // Nothing here: say so, then look once more, because a giver may have found the bit still set.
      // fence: pairs with note_dirty's. Either the giver sees the bit cleared, or we see its grain.
      arena_.summary(c).fetch_and(~(std::uint64_t{1} << c % 64), order::relaxed);
      fence(order::seq_cst);
      if ((k.dirty.load(order::relaxed) & ~k.taken.taken()) != 0) note_dirty(c);
    }
    return false;
  };
  if (!for_each_dirty_chunk(hint, try_chunk) && hint != 0) for_each_dirty_chunk(0, try_chunk);
  return found;
}

void grain_pool::note_dirty(chunk_number c) noexcept {
  fence(order::seq_cst);  // the grain was given before; see take_dirty
  const std::uint64_t bit = std::uint64_t{1} << c % 64;
  if ((arena_.summary(c).load(order::relaxed) & bit) == 0) arena_.summary(c).fetch_or(bit, order::relaxed);
}

grain_pool::run grain_pool::take(unsigned n, chunk_number& hint) noexcept {
  if (const grain g = take_dirty(n, hint)) return taken(chunk_of(g), position_in_chunk(g), n);
  const auto sweep = [&](chunk_number from, chunk_number to) -> run {
    for (chunk_number c = from; c < to; ++c) {
      if (!arena_.ready(c)) continue;
      const unsigned at = take_in(c, n, false);
      if (at != run_bitmap::none) {
        hint = c;
        return taken(c, at, n);
      }
    }
    return {};
  };
  atomic<chunk_number>& lowest = lowest_[scale_of(n)];
  for (;;) {
    const chunk_number open = arena_.main_open();
    chunk_number from = lowest.load(order::relaxed);
    if (from > open) from = 0;
    if (const run r = sweep(from, open); r.first != 0) {
      // Only where n is the scale's own size does failure below mean that nobody of this scale is served there.
      if (std::has_single_bit(n)) lowest.cas(from, chunk_of(r.first), order::relaxed, order::relaxed);
      return r;
    }
    if (std::has_single_bit(n)) lowest.cas(from, open, order::relaxed, order::relaxed);
    const chunk_number extra = arena_.main_chunks();
    if (const run r = sweep(extra, extra + arena_.extra_open()); r.first != 0) return r;
    if (!arena_.open_more(n)) break;
  }
  // The system refuses more room. The hints may have hidden something: look everywhere before saying so.
  if (const run r = sweep(0, arena_.main_open()); r.first != 0) return r;
  return {};
}

bool grain_pool::extend(grain first, unsigned have, unsigned more, bool& zero) noexcept {
  const unsigned at = position_in_chunk(first) + have;
  if (at + more > grains_per_chunk) return false;
  const chunk_number c = chunk_of(first);
  if (!arena_.chunk(c).taken.try_take_at(at, more)) return false;
  zero = taken(c, at, more).zero;
  return true;
}

bool grain_pool::give(grain first, unsigned n, bool dirty) noexcept {
  const chunk_number c = chunk_of(first);
  const unsigned at = position_in_chunk(first);
  const std::uint64_t mask = ones(at, n);
  chunk& k = arena_.chunk(c);
  if (dirty) {
    if (k.aged.load(order::relaxed) & mask) k.aged.fetch_and(~mask, order::relaxed);
    if (k.released.load(order::relaxed) & mask) k.released.fetch_and(~mask, order::relaxed);
    k.dirty.fetch_or(mask, order::relaxed);  // before the grains are free: run-give publishes it
  }
  if (!k.taken.give(at, n)) return false;
  if (dirty) note_dirty(c);
  if (c < arena_.main_chunks())
    for (auto& lowest : lowest_) {
      chunk_number known = lowest.load(order::relaxed);
      while (c < known && !lowest.cas(known, c, order::relaxed, order::relaxed)) {
      }
    }
  return true;
}

std::size_t grain_pool::purge_chunk(chunk_number c, const purge_options& o) noexcept {
  chunk& k = arena_.chunk(c);
  std::size_t bytes = 0;
  const std::uint64_t candidates = k.dirty.load(order::relaxed) & ~k.taken.taken() & ~k.released.load(order::relaxed);
  const std::uint64_t old = o.what == which::all ? candidates : candidates & k.aged.load(order::relaxed);
  for_each_run(old, [&](unsigned at, unsigned n) {
    if (!k.taken.try_take_at(at, n)) return;  // somebody took part of it: it is in use again
    const std::uint64_t mask = ones(at, n);
    auto* const p = arena_.address_of(c * grains_per_chunk + at);
    const std::size_t length = n * grain_size;
    // A kernel, or an emulator, may say that it dropped the pages and not do it; the mark tells.
    auto* const mark = reinterpret_cast<volatile std::uint64_t*>(p);
    *mark = ~std::uint64_t{0};
    const os::discarded how = o.lazily ? os::discard_lazily(p, length) : os::discard_now(p, length);
    if (how == os::discarded::zeroed && *mark == 0) {
      k.dirty.fetch_and(~mask, order::relaxed);
      bytes += length;
    } else if (how == os::discarded::lazily) {
      k.released.fetch_or(mask, order::relaxed);
      bytes += length;
    }
    POLDER_CHECK(1, (k.taken.taken() & mask) == mask);
    static_cast<void>(k.taken.give(at, n));
  });
  k.aged.fetch_or(candidates & ~old, order::relaxed);
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

grain_pool::counts grain_pool::count() const noexcept {
  counts n;
  const auto add = [&](chunk_number from, chunk_number to) {
    for (chunk_number c = from; c < to; ++c) {
      const chunk& k = arena_.chunk(c);
      const std::uint64_t taken = k.taken.taken();
      n.taken += unsigned(std::popcount(taken));
      n.dirty += unsigned(std::popcount(k.dirty.load(order::relaxed) & ~taken & ~k.released.load(order::relaxed)));
    }
  };
  add(0, arena_.main_open());
  add(arena_.main_chunks(), arena_.main_chunks() + arena_.extra_open());
  return n;
}

}  // namespace polder::mem
