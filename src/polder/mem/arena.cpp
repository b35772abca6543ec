#include <polder/mem/arena.hpp>
#include <polder/os/numa.hpp>
#include <polder/os/pages.hpp>
#include <polder/sync/noted.hpp>

#include <algorithm>
#include <bit>

namespace polder::mem {
namespace {

// Bytes from the front's beginning on. The chunks' records lie before it.
struct layout {
  std::size_t summaries_at, words_at, spans_at, grains_at, total;
};

layout lay_out(std::size_t front, std::size_t arena_bytes, chunk_number chunks, std::size_t page) {
  const std::size_t grains = std::size_t{chunks} * grains_per_chunk;
  const std::size_t unit = page > grain_size ? page : grain_size;
  layout l;
  l.summaries_at = align_up(front, page);
  l.words_at = l.summaries_at + align_up((chunks / 64 + 1) * sizeof(std::uint64_t), page);
  l.spans_at = l.words_at + align_up(grains * sizeof(std::uint32_t), page);
  l.grains_at = l.spans_at + align_up(grains * sizeof(span), page);
  l.total = l.grains_at + arena_bytes + unit;  // slack to align the grains
  return l;
}

bool is_large(std::size_t arena_bytes) { return arena_bytes >= 16 * chunk_size; }

// The grains begin at a multiple of a chunk where the arena is large enough for huge pages to matter.
std::byte* align_grains(std::byte* p, std::size_t arena_bytes) {
  return at_address(align_up(address(p), is_large(arena_bytes) ? chunk_size : grain_size));
}

// How much one page of the system's own tables tells of, each of which a fork copies.
constexpr std::size_t told_by_a_table_page = 2 * MiB;

// At p or behind it, where such a page tells of the front, of the first records before it, and of most of what follows it.
std::byte* place_front(std::byte* p, std::size_t page) {
  const std::size_t before = page > grain_size ? page : grain_size;
  return at_address(align_up(address(p) - before, told_by_a_table_page) + before);
}

// Eight times what the machine has: a heap of blocks that are touched is never so large, and where the tables begin depends on it,
// which had better be close to each other.
constexpr std::size_t least_usual = 64 * GiB, most_bytes = 32 * TiB;
std::size_t usual_bytes() {
  const std::size_t memory = os::physical_memory();
  if (memory == 0 || memory > most_bytes / 8) return most_bytes;
  return std::max(std::bit_ceil(8 * memory), least_usual);
}

chunk_number chunks_for(std::size_t bytes) { return chunk_number((bytes + chunk_size - 1) / chunk_size); }

bool commit_range(const void* begin, const void* end, std::size_t page) {
  const std::size_t from = align_down(address(begin), page);
  const std::size_t to = align_up(address(end), page);
  if (!os::commit(at_address(from), to - from)) return false;
  os::keep_in_core_dumps(at_address(from), to - from, true);
  return true;
}

}  // namespace

arena::reservation arena::reserve(std::size_t front, std::size_t wanted, std::size_t page) noexcept {
  constexpr std::size_t smallest = 4 * grain_size;
  // What was opened of the arena counts as data for good, as what is reserved counts as address space; an extra chunk's does not.
  const std::size_t limit = std::min(os::address_space_limit(), os::data_limit());
  std::size_t arena_bytes = wanted != 0 ? align_up(std::min(wanted, most_bytes), grain_size) : usual_bytes();
  if (limit != SIZE_MAX && arena_bytes > limit / 8) arena_bytes = align_down(limit / 8, grain_size);
  if (arena_bytes < smallest) arena_bytes = smallest;
  for (;; arena_bytes = align_down(arena_bytes / 4, grain_size)) {
    if (arena_bytes < smallest) return {};
    // Room in the tables for extra chunks: for whatever the limit may still allow a heap, and as many again, since where little is
    // left of it they are smaller; or for 256 GiB beyond a shrunk arena.
    const chunk_number extra = limit != SIZE_MAX            ? 2 * chunks_for(std::min(limit, usual_bytes()))
                               : arena_bytes >= least_usual ? chunks_for(64 * GiB)
                                                            : chunks_for(256 * GiB);
    const bool large = is_large(arena_bytes);
    reservation r;
    r.chunks = chunks_for(arena_bytes) + extra;
    r.front_bytes = align_up(front, page);
    r.arena_bytes = arena_bytes;
    r.page = page;
    r.limited = limit != SIZE_MAX;
    const std::size_t records = align_up(r.chunks * sizeof(mem::chunk), page);
    const layout l = lay_out(front, arena_bytes, r.chunks, page);
    r.bytes = align_up(records + l.total + (large ? chunk_size + told_by_a_table_page : 0), page);
    r.start = static_cast<std::byte*>(os::reserve(r.bytes));
    if (!r.start) continue;
    if (!is_aligned(address(r.start), page)) {  // a test's page, larger than the system's
      os::unmap(r.start, r.bytes);
      bool cut;
      r.start = static_cast<std::byte*>(os::reserve_at_multiple(r.bytes, page, cut));
      if (!r.start) continue;
    }
    // A debugger dumps what has no access too. What is committed is put back in, range by range.
    os::keep_in_core_dumps(r.start, r.bytes, false);
    static_cast<void>(
        os::name(r.start, r.bytes, "polder"));  // whole, before it is cut: equal names do not keep parts apart
    r.front = large ? place_front(r.start + records, page) : r.start + records;
    // The summaries too: all of them are a megabyte of addresses at most.
    if (commit_range(r.front, r.front + l.words_at, page)) return r;
    os::unmap(r.start, r.bytes);
  }
}

void arena::abandon(const reservation& r) noexcept { os::unmap(r.start, r.bytes); }

arena::arena(const reservation& r, std::byte* map_root, budget& b) noexcept
    : reservation_(r), budget_(b), bytes_(r.arena_bytes), page_(r.page), map_(map_root) {
  const layout l = lay_out(r.front_bytes, r.arena_bytes, r.chunks, r.page);
  records_end_ = reinterpret_cast<mem::chunk*>(r.front);
  summaries_ = reinterpret_cast<atomic<std::uint64_t>*>(r.front + l.summaries_at);
  words_ = reinterpret_cast<atomic<std::uint32_t>*>(r.front + l.words_at);
  spans_ = reinterpret_cast<span*>(r.front + l.spans_at);
  base_ = align_grains(r.front + l.grains_at, r.arena_bytes);
  main_chunks_ = chunks_for(r.arena_bytes);
}

bool arena::commit_tables(chunk_number first, chunk_number last) noexcept {
  const std::size_t from = std::size_t{first} * grains_per_chunk, to = std::size_t{last} * grains_per_chunk;
  return commit_range(records_end_ - last, records_end_ - first, page_) &&
         commit_range(words_ + from, words_ + to, page_) && commit_range(spans_ + from, spans_ + to, page_);
}

// Ahead, for many chunks at once: a table is address space until its chunk is used, and the calls cost as much for one.
bool arena::reach_tables(chunk_number last) noexcept {
  chunk_number have = tables_open_.load(order::acquire);  // sync: tables-open
  if (have >= last) return true;
  const std::size_t ahead = align_up(last, chunks_of_tables);
  const chunk_number to = ahead < main_chunks_ ? chunk_number(ahead) : main_chunks_;
  if (!commit_tables(have, to))
    return false;  // they are less than a chunk's grains, which would not be had then either
  while (have < to && !tables_open_.cas(have, to, order::acq_rel, order::acquire)) {  // sync: tables-open
  }
  return true;
}

bool arena::open_more(unsigned n, site s, bool huge) noexcept {
  return open_main(n, s, huge) || (n <= grains_per_chunk && open_extra(n, s));
}

// Whatever the kernel says: where it refuses, the thread that touches a page first decides, which is mostly one of the site's.
static void bind_to(site s, std::byte* p, std::size_t bytes) {
  if (s != no_site) static_cast<void>(os::bind(p, bytes, node_of_site(s)));
}

bool arena::open_main(unsigned n, site s, bool huge) noexcept {
  chunk_number open = main_open_.load(order::acquire);  // sync: chunk-open
  if (open >= main_chunks_) return false;
  // One chunk at first, a quarter of the heap later, 64 MiB at most: few system calls, little charged in advance.
  chunk_number step = open / 4 + 1;
  if (step > 16) step = 16;
  if (step < chunks_for(n * grain_size)) step = chunks_for(n * grain_size);
  if (step > main_chunks_ - open) step = main_chunks_ - open;
  // A limit set after the reservation binds what is opened from it, as it would bind mappings.
  const std::size_t limit = os::address_space_limit();
  for (;; step /= 2) {
    if (step == 0) return false;
    const chunk_number last = open + step;
    std::byte* const from = base_ + std::size_t{open} * chunk_size;
    const std::size_t end = std::size_t{last} * chunk_size < bytes_ ? std::size_t{last} * chunk_size : bytes_;
    if (limit != SIZE_MAX && end > limit) continue;
    if (!budget_.set_aside(step * tables_of_chunk)) continue;
    if (!reach_tables(last) || !commit_range(from, base_ + end, page_)) {
      budget_.give(step * tables_of_chunk);
      continue;
    }
    // Of many that came at once most find it open by now. Each call more is one that waits for the kernel's lock.
    if (main_open_.load(order::acquire) != open)
      return budget_.give(step * tables_of_chunk), true;  // sync: chunk-open
    // The first opener to come by says of which site a chunk is; each of them sees to it before the chunk is open.
    for (chunk_number c = open; s != no_site && c < last; ++c) {
      site known = no_site;
      if (chunk(c).site.cas(known, s, order::relaxed, order::relaxed)) known = s;
      std::byte* const p = base_ + std::size_t{c} * chunk_size;
      bind_to(known, p, c + 1 < last ? chunk_size : std::size_t(base_ + end - p));
    }
    if (huge && !os::advise_huge_pages(from, std::size_t(base_ + end - from), true)) {
      no_huge_pages_.store(true, order::relaxed);
      huge = false;
    }
    for (chunk_number c = open; huge && c < last; ++c) chunk(c).kind.store(page_kind::huge, order::relaxed);
    // Both are the same for every opener: grain 0 ends lists, and the last chunk may be short.
    if (open == 0) static_cast<void>(chunk(0).taken.try_take_at(0, 1));
    const unsigned short_by = unsigned((std::size_t{last} * chunk_size - end) >> grain_shift);
    if (short_by != 0) static_cast<void>(chunk(last - 1).taken.try_take_at(grains_per_chunk - short_by, short_by));
    if (main_open_.cas(open, last, order::acq_rel, order::acquire)) budget_.had();  // sync: chunk-open
    else budget_.give(step * tables_of_chunk);                                      // another's
    return true;
  }
}

void arena::turn(chunk_number c, page_kind to) noexcept {
  chunk(c).kind.store(to, order::relaxed);
  const std::size_t at = std::size_t{c} * chunk_size;
  os::advise_huge_pages(base_ + at, at + chunk_size < bytes_ ? chunk_size : bytes_ - at, to == page_kind::huge);
}

// A number whose grains are all marked taken, so that nobody searches it: a closed one, or the next. 0: none left.
chunk_number arena::number_for_extra() noexcept {
  const auto links = [this](std::uint32_t i) -> atomic<std::uint32_t>& { return chunk(i - 1).next; };
  if (const std::uint32_t i = closed_.pop(links)) return i - 1;
  const chunk_number room = reservation_.chunks - main_chunks_;
  if (!budget_.set_aside(tables_of_chunk)) return 0;
  chunk_number number = extra_open_.load(order::acquire);  // sync: chunk-open
  do {
    const chunk_number c = main_chunks_ + number;
    if (number >= room || !commit_tables(c, c + 1)) return budget_.give(tables_of_chunk), 0;
  } while (!extra_open_.cas(number, number + 1, order::acq_rel, order::acquire));  // sync: chunk-open
  budget_.had();
  // Nobody looks at its grains before it is ready; from now on they are taken until it is opened.
  static_cast<void>(chunk(main_chunks_ + number).taken.try_take_at(0, grains_per_chunk));
  return main_chunks_ + number;
}

bool arena::open_extra(unsigned n, site s) noexcept {
  for (std::size_t bytes = chunk_size; bytes >= n * grain_size && bytes >= grain_size; bytes /= 4) {
    const std::size_t mapped = bytes + grain_size;  // slack to align
    auto* const raw = static_cast<std::byte*>(os::map(mapped));
    if (!raw) continue;
    const chunk_number c = number_for_extra();
    if (c == 0) return os::unmap(raw, mapped), false;
    mem::chunk& k = chunk(c);
    std::byte* const base = at_address(align_up(address(raw), grain_size));
    const unsigned grains = unsigned(bytes >> grain_shift);
    k.mapping.set(raw);
    k.grains.store(grains, order::relaxed);
    k.dirty.store(0, order::relaxed);
    k.site.store(s, order::relaxed);
    bind_to(s, base, bytes);
    extra_bytes_.fetch_add(mapped, order::relaxed);
    k.base.store(base, order::release);  // sync: chunk-base
    unsigned named = 0;
    while (named < grains && map_.store(address(base) + named * grain_size, c * grains_per_chunk + named)) ++named;
    if (named < grains) {  // a smaller one may leave room for the map's node
      close_extra(c);
      continue;
    }
    static_cast<void>(k.taken.give(0, grains));
    return true;
  }
  return false;
}

unsigned arena::try_take_extra(chunk_number c) noexcept {
  mem::chunk& k = chunk(c);
  if (!ready(c)) return 0;
  const unsigned n = k.grains.load(order::relaxed);
  if (!k.taken.try_take_at(0, n)) return 0;
  if (k.grains.load(order::relaxed) == n) return n;
  // Closed in between, and its number opened again with more grains. Who searched meanwhile went past those that we held.
  static_cast<void>(k.taken.give(0, n));
  note(summary(c), summary_bit(c));
  return 0;
}

bool arena::close_extra(chunk_number c) noexcept {
  mem::chunk& k = chunk(c);
  std::byte* const base = k.base.load(order::relaxed);
  const unsigned grains = k.grains.load(order::relaxed);
  for (unsigned i = 0; i < grains; ++i)
    if (map_.find(address(base) + i * grain_size) != 0) map_.store(address(base) + i * grain_size, 0);
  const std::size_t mapped = (grains + 1) * grain_size;
  if (os::unmap(k.mapping.get(), mapped)) {
    extra_bytes_.fetch_sub(mapped, order::relaxed);
    k.base.store(nullptr, order::relaxed);
    closed_.push(c + 1, [this](std::uint32_t i) -> atomic<std::uint32_t>& { return chunk(i - 1).next; });
    return true;
  }
  // The kernel cannot split its tables. The map has its nodes if it had them before, and if not, nobody looks here.
  for (unsigned i = 0; i < grains; ++i)
    if (!map_.store(address(base) + i * grain_size, c * grains_per_chunk + i)) break;
  return false;
}

std::size_t arena::table_bytes() const noexcept { return table_bytes(main_open()); }

std::size_t arena::table_bytes(chunk_number main_open) const noexcept {
  const std::size_t chunks = std::size_t{main_open} + extra_open();
  return reservation_.front_bytes + chunks * tables_of_chunk;
}

std::size_t arena::committed_bytes() const noexcept {
  const chunk_number open = main_open();  // once: others open more meanwhile
  const std::size_t main = std::size_t{open} * chunk_size;
  const chunk_number tables = tables_open_.load(order::relaxed);
  const std::size_t ahead = tables > open ? (tables - open) * tables_of_chunk : 0;
  const std::size_t summaries = address(words_) - address(summaries_);
  return (main < bytes_ ? main : bytes_) + extra_bytes() + table_bytes(open) + summaries + ahead;
}

}  // namespace polder::mem
