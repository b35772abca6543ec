// core: pages of spans in use on which every block is free.
//
// A span stays for as long as one of its blocks is out, and where sizes change, most of a heap is spans with few. Their free
// pages go back to the system: the blocks on them leave the span's list, and come back a page at a time when it is empty.
// A second free of such a block finds no key on the page; so from the first of them on, `handed` sends each free of the
// owner's the slow way, and a bit in the word those of others, to ask which pages are gone.
#include <bit>
#include <utility>

#include <polder/heap/polder/core.hpp>
#include <polder/mem/span_pages.hpp>

namespace polder::heap {

// Whether pages of it are likely to be free: half of them are, if its blocks lie anywhere.
static bool is_sparse(const mem::span& s, std::size_t page) noexcept {
  const std::size_t pages = mem::grain_size / page;
  return s.used * (1 + s.block_size / page) <= pages * 2 / 3;
}

// Puts those of these blocks on the list, lowest first, that are free and lie on no page that is gone.
void core::list_free(mem::span& s, const mem::span_pages& pages, mem::span_pages::range of,
                     std::uint32_t returned) noexcept {
  std::byte* const start = arena_.address_of(number_of(s));
  for (std::uint32_t n = of.last; n-- != of.first;) {
    const std::uint32_t at = n * s.block_size;
    if (!pages.is_free(n) || (pages.of(at) & returned) != 0) continue;
    auto* const b = reinterpret_cast<mem::block*>(start + at);
    links::set(b, s.free, secret_);
    s.free = b;
  }
}

// Which pages are gone, and what follows for frees.
void core::note_returned(mem::span& s, std::uint32_t returned) noexcept {
  s.returned.store(returned, order::relaxed);
  const std::uint32_t first =
      returned == 0
          ? s.bumped
          : mem::span_pages(s.block_size, arena_.page()).blocks_on(unsigned(std::countr_zero(returned))).first *
                s.block_size;
  s.handed = mem::scaled(s.multiplier, first);
  auto& word = arena_.words()[number_of(s)];
  const std::uint32_t w = word.load(order::relaxed) & ~mem::word::thin_bit;
  word.store(returned == 0 ? w : w | mem::word::thin_bit, order::relaxed);
}

// Gives the free pages of a partial span back. Bytes; 0: there were few.
std::size_t core::thin(lab& l, mem::span& s) noexcept {
  const std::size_t page = arena_.page();
  std::byte* const start = arena_.address_of(number_of(s));
  mem::span_pages pages(s.block_size, page);
  const std::uint32_t before = s.returned.load(order::relaxed);
  const auto few = [&](unsigned n) { return n * 4 < pages.count(); };
  // One page at least has a block on it. Who trims again and again need not walk lists that have nothing more to give.
  const auto touched = unsigned((s.bumped + page - 1) / page);
  if (few(touched - unsigned(std::popcount(before)) - 1)) return 0;
  // The list runs anywhere through what is no longer in the cache.
  for (std::uint32_t at = 0; at < s.bumped; at += cache_line)
    if ((before >> at / page & 1) == 0) __builtin_prefetch(start + at);
  for (const mem::block* b = s.free; b != mem::list_end(); b = links::next(b, l.secret)) {
    const auto offset = std::uint32_t(reinterpret_cast<const std::byte*>(b) - start);
    if (offset >= s.bumped || !links::fit(b, l.secret)) [[unlikely]]
      report_corrupted(b);
    pages.note_free(offset / s.block_size);
  }
  pages.note_free_on(before);
  const std::uint32_t free = pages.wholly_free() & ~before;
  if (few(unsigned(std::popcount(free)))) return 0;
  s.free = mem::list_end();
  list_free(s, pages, {0, s.bumped / s.block_size}, before | free);
  note_returned(s, before | free);
  if (!grains_.discard_within(number_of(s), free)) {
    for (std::uint32_t kept = before | free; kept != before;) list_page(s, kept, free & kept);
    thins_.store(false, order::relaxed);
    return 0;
  }
  const std::size_t bytes = unsigned(std::popcount(free)) * page;
  budget_.give(bytes);
  return bytes;
}

// Puts the blocks of the lowest of `some` pages that were given back on the list again, but for those that lie on others, too.
void core::list_page(mem::span& s, std::uint32_t& returned, std::uint32_t some) noexcept {
  const std::uint32_t lowest = some & -some;
  mem::span_pages pages(s.block_size, arena_.page());
  pages.note_free_on(lowest);
  returned &= ~lowest;
  list_free(s, pages, pages.blocks_on(unsigned(std::countr_zero(lowest))), returned);
  note_returned(s, returned);
}

// Lists blocks of a page that was given back, or of several where they are larger. False: the cap is in the way.
POLDER_NOINLINE bool core::take_pages_back(mem::span& s) noexcept {
  std::uint32_t returned = s.returned.load(order::relaxed);
  while (!s.has_free() && budget_.take(arena_.page())) list_page(s, returned, returned);
  return s.has_free();
}

// The cap keeps the pages of the hot span of class c away. True: another one is hot that has blocks, if only some that were never
// handed out, or there may be room now.
POLDER_NOINLINE bool core::do_without_page(lab& l, unsigned c) noexcept {
  for (mem::grain g = l.partial[c].first; g != 0; g = arena_.spans()[g].next) {
    mem::span& s = arena_.spans()[g];
    if (!s.has_free() && s.bumped >= s.usable) continue;
    unlist_partial(l, s);
    cool(l, c);
    make_hot(l, s);
    return true;
  }
  return make_room(&l, arena_.page(), l.for_a_page);
}

// The grain of a span that is empty, to the pool, where grains count as wholes: if some of it is gone, all of it goes.
void core::give_span(lab& l, const mem::span& s, left how) noexcept {
  const mem::grain g = number_of(s);
  std::size_t gone = unsigned(std::popcount(s.returned.load(order::relaxed))) * arena_.page();
  const unsigned list = gone == 0 ? s.cls : 0;
  if (gone != 0) [[unlikely]] {
    how = emptied_at_once(arena_.address_of(g), mem::grain_size, how);
    if (how != left::zero) budget_.count(std::exchange(gone, 0));
  }
  give_grains(&l.trail, g, 1, how, gone, list);
}

// Whether it lies on a page that was given back, so that it is free.
bool core::is_returned(const void* p) const noexcept {
  const mem::span& s = arena_.spans()[arena_.find(address(p))];
  const auto offset = std::uint32_t(address(p) & (mem::grain_size - 1));
  return (mem::span_pages(s.block_size, arena_.page()).of(offset) & s.returned.load(order::relaxed)) != 0;
}

// Looks at so many more of the LAB's spans, and thins at most so many: those of classes that have taken no span for some steps of
// decay, so that they will not be filled soon. `asleep`: the LAB's thread, so none will.
POLDER_NOINLINE core::looked core::thin_some(lab& l, unsigned looks, unsigned most, bool asleep) noexcept {
  std::size_t bytes = 0;
  if (!thins_.load(order::relaxed)) return {.bytes = 0, .all = true};
  if (l.thin_next == 0) {
    l.thin_next = l.owned;
    l.whole_round = true;
  }
  l.whole_round &= asleep;  // what its thread has passed, it may empty without a word
  for (; looks != 0 && most != 0 && l.thin_next != 0; --looks) {
    mem::span& s = arena_.spans()[l.thin_next];
    l.thin_next = s.next_owned;
    const bool resting = asleep || ((l.wanted | l.wanted_before) & class_bit(s.cls)) == 0;
    if (s.state != mem::span_state::partial || !resting || !is_sparse(s, arena_.page())) continue;
    const std::size_t had = thin(l, s);
    bytes += had;
    most -= had != 0;
  }
  return {.bytes = bytes, .all = l.thin_next == 0 && (l.whole_round || !asleep)};
}

// All that can be thinned, of a LAB that is the caller's. Bytes.
std::size_t core::thin_all(lab& l) noexcept {
  l.thin_next = 0;
  return thin_some(l, ~0u, ~0u, true).bytes;
}

}  // namespace polder::heap
