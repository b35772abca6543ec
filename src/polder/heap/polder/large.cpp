// core: blocks of whole grains, huge blocks, and realloc.
#include <utility>

#include <polder/heap/polder/core.hpp>
#include <polder/mem/misuse.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/probe.hpp>

namespace polder::heap {

constexpr std::size_t mapped_growth = 1 * MiB;

core::had core::allocate_large(lab& l, std::size_t n, std::size_t alignment) noexcept {
  // What no address space has room for: nothing that is given back would help.
  if (n > os::most_mapped || alignment > os::most_mapped - n) return os::probe::oom(n), had{};
  look_at_the_clock(l);  // a program may need nothing smaller for a while
  if (void* const p = take_kept_run(l, n, alignment)) return {.p = p};
  const std::size_t room = align_up(n, mem::grain_size) + (alignment > mem::grain_size ? alignment : 0);
  relieve(l, room);
  had h = try_large(l.trail, n, alignment);
  for (attempts so_far; !h.p && make_room(&l, room, so_far);) h = try_large(l.trail, n, alignment);
  if (!h.p) return os::probe::oom(n), h;
  // A small block that lay there may have left its key, which realloc would copy to where a free looks for one.
  if (!h.begins_zero) static_cast<mem::block*>(h.p)->wipe_if_written();
  os::probe::large_alloc(h.p, n);
  return h;
}

void* core::allocate_large_zeroed(lab& l, std::size_t n) noexcept {
  const had h = allocate_large(l, n, min_alignment);
  if (h.p && !h.zero) return __builtin_memset(h.p, 0, n);
  if (const mem::grain g = arena_.find(address(h.p))) run_at(g).as_zeroes = 1;
  return h.p;
}

// Of a short run that comes and goes the pool, which all threads share, need not know each time. One that is not wanted next goes
// there, so that it does not lie in the way of longer ones.
void* core::take_kept_run(lab& l, std::size_t n, std::size_t alignment) noexcept {
  const mem::grain g = l.kept_run;
  if (g == 0) return nullptr;
  const unsigned wanted = mem::grains_for(n < 1 ? 1 : n);
  if (alignment > mem::grain_size || run_at(g).grains != wanted) return give_kept_run(l), nullptr;
  l.kept_run = 0;
  run_at(g).as_zeroes = 0;
  arena_.words()[g].store(mem::word::large, order::release);  // sync: span-made
  void* const p = arena_.address_of(g);
  os::probe::large_alloc(p, n);
  return p;
}

void core::give_kept_run(lab& l) noexcept {
  if (const mem::grain g = std::exchange(l.kept_run, 0)) give_grains(&l.trail, g, run_at(g).grains);
}

core::had core::try_large(mem::trail& trail, std::size_t n, std::size_t alignment) noexcept {
  const std::size_t wanted = mem::grains_for(n < 1 ? 1 : n);
  const std::size_t slack = alignment > mem::grain_size ? alignment / mem::grain_size - 1 : 0;
  if (wanted + slack <= mem::grain_pool::longest) {
    using density = mem::grain_pool::density;
    const bool mostly =
        wanted * 4 >= align_up(wanted, slack + 1) * 3;  // of what lies from one such block to the next
    const mem::grain_pool::run r =
        grains_.take(unsigned(wanted + slack), trail, site_here(), mostly ? density::whole : density::apart);
    if (r.first != 0) {
      std::byte* const start = arena_.address_of(r.first);
      std::byte* const p = at_address(align_up(address(start), alignment));
      const auto before = unsigned((p - start) >> mem::grain_shift);
      const mem::grain first = r.first + before;
      const unsigned after = unsigned(slack) - before;
      const auto rest = r.zero ? mem::grain_pool::left::zero : mem::grain_pool::left::dirty;
      if (before != 0) static_cast<void>(grains_.give(r.first, before, rest));
      if (after != 0) static_cast<void>(grains_.give(first + mem::grain(wanted), after, rest));
      if (r.zero) huge_.give_way();
      run_at(first).grains = std::uint32_t(wanted);
      run_at(first).as_zeroes = 0;
      arena_.words()[first].store(mem::word::large, order::release);  // sync: span-made
      return {p, r.zero, before == 0 ? r.begins_zero : r.zero};
    }
  }
  const mem::huge_blocks::block_info b = huge_.take(n, alignment);
  return {b.p, b.zero, b.zero};
}

void core::free_large(lab* l, mem::grain g, const void* p) noexcept {
  if (p != arena_.address_of(g)) report_free(p);
  std::uint32_t w = mem::word::large;
  const unsigned n = run_at(g).grains;
  const bool stays = l != nullptr && n <= lab::longest_kept && !by_node() && !keeps_nothing();
  forget(p);
  // Of two threads that free the same block, one wins the word and the other is told.
  const std::uint32_t then = stays ? mem::word::kept : 0;
  if (!arena_.words()[g].cas(w, then, order::acq_rel, order::relaxed)) report_free(p);  // sync: span-made
  os::probe::large_free(p);
  if (!stays) return give_grains(l ? &l->trail : nullptr, g, n);
  give_kept_run(*l);
  l->kept_run = g;
  note_kept(*l);
}

void core::free_huge(const void* p) noexcept {
  forget(p);
  if (guarded_.has(p)) return guarded_.give(p), budget_.give(arena_.page());
  const std::uint32_t number = huge_.find(p);
  if (number == 0 || !huge_.give(number, p)) report_free(p);
  os::probe::large_free(p);
  have_it_tended();
  if (keeps_nothing()) huge_.purge_cache(true);
}

std::size_t core::usable_size(const void* p) const noexcept {
  const mem::grain g = arena_.find(address(p));
  if (g == 0) {
    if (guarded_.has(p)) return guarded_.usable(p);
    const std::uint32_t number = huge_.find(p);
    if (number == 0) report_free(p);
    return huge_.usable(number);
  }
  const std::uint32_t w = arena_.words()[g].load(order::acquire);  // sync: span-made
  const unsigned c = mem::word::cls(w);
  if (c == mem::word::large && p == arena_.address_of(g)) return std::size_t{run_at(g).grains} << mem::grain_shift;
  check_live(w, p);
  return classes::block_size[c];
}

// 0: it begins no huge block.
std::uint32_t core::huge_number_of(const void* p) const noexcept {
  return arena_.find(address(p)) == 0 ? huge_.find(p) : 0;
}

bool core::owns(const void* p) const noexcept {
  return arena_.find(address(p)) != 0 || huge_.find(p) != 0 || guarded_.has(p);
}

// p, if its block can become one of n bytes where it is, or a huge block that moved with its pages.
void* core::try_in_place(const void* p, std::size_t n) noexcept {
  const mem::grain g = arena_.find(address(p));
  if (g == 0) {
    if (guarded_.has(p)) return n == guarded_.usable(p) ? const_cast<void*>(p) : nullptr;
    const std::uint32_t number = huge_.find(p);
    if (number == 0) report_free(p);
    if (n < huge_.usable(number) / 2 && n < mapped_growth) return nullptr;  // small again: leave the mapping
    return huge_.resize(number, p, n);
  }
  const std::uint32_t w = arena_.words()[g].load(order::acquire);  // sync: span-made
  const unsigned c = mem::word::cls(w);
  if (c != mem::word::large) {
    check_live(w, p);
    return classes::keeps(c, n) ? const_cast<void*>(p) : nullptr;
  }
  if (p != arena_.address_of(g)) report_free(p);
  auto& run = run_at(g);
  const std::size_t wanted = mem::grains_for(n);
  if (n <= mem::size_class::stepped::largest || wanted > mem::grain_pool::longest) return nullptr;
  if (wanted < run.grains) {
    const unsigned rest = run.grains - unsigned(wanted);
    run.grains = std::uint32_t(wanted);
    const mem::grain behind = g + mem::grain(wanted);
    const left how = keeps_nothing()
                         ? emptied_at_once(arena_.address_of(behind), rest * mem::grain_size, left::dirty)
                         : left::dirty;
    static_cast<void>(grains_.give(behind, rest, how));
  } else if (wanted > run.grains) {
    // To be copied into a mapping now costs less than when it is larger, and after that nothing.
    if (n >= mapped_growth && run.grains < mem::grains_for(mapped_growth)) return nullptr;
    bool zero;
    if (!grains_.extend(g, run.grains, unsigned(wanted) - run.grains, zero)) return nullptr;
    run.grains = std::uint32_t(wanted);
  }
  return const_cast<void*>(p);
}

// Less than p's block holds is meant from now on. Runs of grains have no record of what was asked.
void core::note_asked(const void* p, std::size_t n) noexcept {
  if (const std::uint32_t number = huge_number_of(p); number != 0) huge_.shrink(number, n);
}

// A shrink cannot fail.
void* core::stay_though_small(void* p, std::size_t n) noexcept {
  if (n > usable_size(p)) return nullptr;
  note_asked(p, n);
  kept_though_small_.store(true, order::relaxed);
  return p;
}

void* core::reallocate(lab& l, void* p, std::size_t n) noexcept {
  mem::heap_profile* const profile = profile_.load(order::acquire);  // sync: installed
  const auto in_place = [&] { return profile ? resize_sampled(l, *profile, p, n) : try_in_place(p, n); };
  if (n > mem::size_class::stepped::largest) give_kept_run(l);  // it may lie where the block is to grow
  if (void* const same = in_place()) return same;
  // A huge block can grow by itself where the cap leaves no room for another beside it.
  if (const std::uint32_t number = n <= PTRDIFF_MAX ? huge_number_of(p) : 0; number != 0) {
    const std::size_t whole = align_up(n, arena_.page());
    const auto lacks = [&] {
      const std::size_t has = huge_.usable(number);
      return whole > has ? whole - has : 0;
    };
    for (attempts so_far; lacks() != 0 && budget_.refuses(lacks());) {
      if (!make_room(&l, lacks(), so_far)) return os::probe::oom(n), nullptr;
      if (void* const same = in_place()) return same;
    }
  }
  const std::size_t had = usable_size(p);
  // A guarded block is known by what was asked for it, which its user says again in the free.
  const auto may_be_guarded = [this](std::size_t more) { return options_.hardened && more <= arena_.page(); };
  void* q = nullptr;
  // A large block that grows will grow again. A small one gets a quarter more room, which costs address space only;
  // from `mapped_growth` on it gets a mapping of its own, whose pages move without being copied.
  if (n > had && n >= mapped_growth) {
    q = counted(l, huge_.take_to_grow(n).p, n);
  } else if (n > had && n > mem::size_class::stepped::largest && !may_be_guarded(n + n / 4)) {
    q = allocate_with_room(l, n + n / 4, n);
    if (q) note_asked(q, n);
  }
  if (const std::size_t more = with_room(had, n); !q && more != n && !may_be_guarded(more))
    q = allocate_with_room(l, more, n);
  if (!q) q = allocate(l, n);
  if (!q) return stay_though_small(p, n);
  __builtin_memcpy(q, p, n < had ? n : had);
  deallocate(l, p);
  return q;
}

}  // namespace polder::heap
