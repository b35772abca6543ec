// core: frees that are not simply the own thread's, and the way of remote blocks home.
#include <polder/base/bits.hpp>
#include <polder/heap/polder/core.hpp>
#include <polder/mem/misuse.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/probe.hpp>
#include <polder/os/timeline.hpp>

namespace polder::heap {

// A LAB whose inbox holds this much while its thread is elsewhere is emptied by who posts to it: 2^n bytes.
constexpr unsigned inbox_patience = 18, patience_in_a_crowd = 20;

// Puts a block that lies in a span of this LAB back, whatever state the span is in.
POLDER_ALWAYS_INLINE void core::free_own(lab& l, mem::span& s, std::uint32_t w, mem::block* b) noexcept {
  if (mem::word::is_full(w)) [[unlikely]]
    reopen(l, s, w);
  if (put_first(s, b, l.secret)) [[unlikely]]
    emptied(l, s);
}

// A full span is about to have a free block. Of large blocks it has few to collect: where the hot span of its class has none left, it
// takes that one's place, and the next malloc finds the block, which still lies in the cache, without a refill.
POLDER_NOINLINE void core::reopen(lab& l, mem::span& s, std::uint32_t w) noexcept {
  constexpr std::uint32_t large = 4 * KiB;
  const unsigned c = s.cls;
  arena_.words()[number_of(s)].store(w & ~mem::word::full_bit, order::relaxed);
  s.become(mem::span_state::partial);
  if (s.block_size < large || l.hot[c]->has_more()) return list_partial(l, s);
  cool(l, c);
  l.wanted |= class_bit(c);
  l.fresh[c] = 0;
  make_hot(l, s);
}

// The first block of class c on the shelf, which has one.
mem::block* core::take_down(lab& l, unsigned c) noexcept {
  mem::block* const b = take_from_shelf(l, c);
  if (b == nullptr) [[unlikely]]
    report_corrupted(l.shelved.first(c));
  return b;
}

// Sends what lies there home: to its span, or to who has adopted that since.
POLDER_NOINLINE void core::clear_shelf(lab& l) noexcept {
  for (unsigned c = shelf::first_class; !l.shelved.empty() && c <= classes::count; ++c)
    while (l.shelved.first(c) != nullptr) {
      mem::block* const b = take_down(l, c);
      const mem::grain g = arena_.find(address(b));
      free_alone(l, g, arena_.words()[g].load(order::acquire), b);  // sync: span-made
    }
}

void core::free_remote(lab& l, void* p, std::uint32_t w) noexcept {
  ++l.sent[mem::word::cls(w)];
  if (!l.out.has(mem::word::owner(w))) note_kept(l);
  l.out.add(mem::word::owner(w), static_cast<mem::block*>(p), tallies[mem::word::cls(w)], l.secret,
            [&](const outbox::list& list) { post_list(l, list); });
}

// Without the outbox, which writes into the blocks that it holds.
void core::free_alone(lab& l, mem::grain g, std::uint32_t w, mem::block* b) noexcept {
  if (mem::word::owner(w) == l.number) return free_own(l, arena_.spans()[g], w, b);
  ++l.sent[mem::word::cls(w)];
  ++l.posts;
  post(mem::word::owner(w), b, b, classes::block_size[mem::word::cls(w)]);
}

void core::send_due(lab& l, mem::lab_number owner) noexcept {
  l.out.send_due(owner, [&](const outbox::list& list) { post_list(l, list); });
}

// Whether the block is on its span's list, as far as one can see while the owner is at work.
bool core::is_listed(const mem::span& s, const mem::block* b) const noexcept {
  const std::byte* const start = arena_.address_of(number_of(s));
  std::size_t left = mem::grain_size / min_alignment;
  for (const mem::block* at = s.free.glimpse(); left != 0; at = links::next(at, secret_), --left) {
    if (at == b) return true;
    if (address(at) - address(start) >= mem::grain_size || !links::fit(at, secret_))
      return false;  // or it is the end
  }
  return false;
}

// Whether a block lies at b that may be on its way home: a place of its span, with a fitting link, that is not on the span's list.
bool core::may_wait(const mem::block* b) const noexcept {
  const mem::grain g = is_aligned(address(b), min_alignment) ? arena_.find(address(b)) : 0;
  if (g == 0) return false;
  const std::uint32_t w = arena_.words()[g].load(order::relaxed);
  const unsigned c = mem::word::cls(w);
  return c != 0 && c <= classes::count && mem::word::owner(w) != 0 && is_place(c, b) && links::fit(b, secret_) &&
         !is_listed(arena_.spans()[g], b);
}

// Whether p is free, which looks it. A live block does, too, when its user has copied to it what nobody has written to since it was
// part of a free one. A free one is on its span's list, or among those that wait, before another of them or at the end.
[[gnu::cold]] POLDER_NOINLINE bool core::is_free(std::uint32_t w, const void* p) const noexcept {
  const auto* const b = static_cast<const mem::block*>(p);
  if (is_listed(arena_.spans()[arena_.find(address(p))], b)) return true;
  const mem::block* const next = links::next(b, secret_);
  return some_wait(mem::word::cls(w)) && (next == nullptr || may_wait(next));
}

// Returns if p may be a live block of the span that word w describes, as far as anything tells.
void core::check_live(std::uint32_t w, const void* p) const noexcept {
  const unsigned c = mem::word::cls(w);
  if (c == 0 || c > classes::count || mem::word::owner(w) == 0 || !is_place(c, p)) report_free(p);
  if (links::fit(static_cast<const mem::block*>(p), secret_) && is_free(w, p)) report_free(p);
  if (mem::word::is_thin(w) && is_returned(p)) report_free(p);
}

void core::deallocate(lab& l, void* p) noexcept {
  const mem::grain g = arena_.find(address(p));
  if (g == 0) return free_huge(p);
  if (l.grain_of(p) >= l.opened) note_opened(l);             // who only frees comes by nowhere else
  std::uint32_t w = arena_.words()[g].load(order::acquire);  // sync: span-made
  if (mem::word::cls(w) == mem::word::large) return free_large(&l, g, p);
  check_live(w, p);
  if (mem::word::is_sampled(w)) [[unlikely]]
    w = forget(l.number, g, w, p);
  if (options_.hardened) return confine(l, w, p);
  if (mem::word::owner(w) == l.number) {
    auto* const b = static_cast<mem::block*>(p);
    if (mem::word::is_full(w) && shelf::suits(mem::word::cls(w)) && l.shelved.has_room()) note_kept(l);
    return put_on_shelf(l, b, w) ? void() : free_own(l, arena_.spans()[g], w, b);
  }
  free_remote(l, p, w);
}

void core::deallocate_without_lab(void* p) noexcept {
  const mem::grain g = arena_.find(address(p));
  if (g == 0) return free_huge(p);
  const std::uint32_t w = arena_.words()[g].load(order::acquire);  // sync: span-made
  if (mem::word::cls(w) == mem::word::large) return free_large(nullptr, g, p);
  check_live(w, p);
  if (mem::word::is_sampled(w)) [[unlikely]]
    forget(0, g, w, p);
  auto* const b = static_cast<mem::block*>(p);
  if (options_.hardened) __builtin_memset(p, 0, classes::block_size[mem::word::cls(w)]);
  links::set(b, nullptr, secret_);
  sent_without_lab_[mem::word::cls(w)].fetch_add(1, order::relaxed);
  post(mem::word::owner(w), b, b, classes::block_size[mem::word::cls(w)]);
}

void core::check_beyond(const void* p) const noexcept {
  const mem::grain g = arena_.find(address(p));
  const mem::span& s = arena_.spans()[g];
  if ((address(p) & (mem::grain_size - 1)) >= s.bumped) report_free(p);
}

void core::emptied(lab& l, mem::span& s) noexcept {
  if (s.state == mem::span_state::partial) {
    unlist_partial(l, s);
  } else {
    set_hot(l, s.cls, &none_);
    l.keeps |= class_bit(s.cls);  // a class that is wanted again takes its next span for longer
  }
  s.become(mem::span_state::free);
  disown(l, s);
  give_span(l, s);
}

// Whether of so many threads most are elsewhere at any moment.
bool core::is_a_crowd(std::uint32_t threads) const noexcept { return threads > 2 * processors_; }

// Where threads are more than processors, one that is elsewhere and was at work a moment ago is likely to have been preempted:
// to take its LAB meanwhile costs both more than it saves.
bool core::waits_for_a_processor(const lab& o) noexcept {
  return o.seen.load(order::relaxed) == step_.load(order::relaxed) && is_a_crowd(labs_made());
}

// Whether blocks of the span that word w describes have room for signposts.
static bool has_room(std::uint32_t w) noexcept {
  static_assert(classes::block_size[1] < mem::posted_block::least &&
                classes::block_size[2] >= mem::posted_block::least);
  return mem::word::cls(w) > 1;
}

// Of small blocks alone they would say little for what they cost.
void core::put_up_signposts(const outbox::list& list) noexcept {
  constexpr unsigned most = outbox::max_blocks;
  if (list.sum.all_have_room()) mem::put_up_signposts<most>(list.first, [](const mem::block*) { return true; });
  else if (list.sum.most_have_room())
    mem::put_up_signposts<most>(list.first, [this](const mem::block* b) { return has_room(word_of(b)); });
}

POLDER_NOINLINE void core::post_list(lab& from, const outbox::list& list) noexcept {
  ++from.posts;
  if (put_signposts && list.sum.count() > 2) put_up_signposts(list);
  post(list.owner, list.first, list.last, list.sum.bytes());
}

// Leaves a list of blocks with a LAB, and sees to it that somebody will find it there.
POLDER_NOINLINE void core::post(mem::lab_number owner, mem::block* first, mem::block* last,
                                std::uint32_t bytes) noexcept {
  const os::timeline::span told{os::timeline::kind::post, owner, bytes};
  os::probe::post(owner, bytes);
  chain strays;
  post_to(owner, first, last, bytes, strays);
  deliver(strays);
  have_it_tended();
}

void core::post_to(mem::lab_number owner, mem::block* first, mem::block* last, std::uint32_t bytes,
                   chain& strays) noexcept {
  lab& o = lab_at(owner);
  const std::uint64_t before = o.in_bytes.fetch_add(bytes, order::relaxed);
  o.in.push_list(first, last, [&](mem::block* b, mem::block* next) { links::set(b, next, secret_); });
  const auto pending = [&] { return !o.in.empty(); };
  const auto empty_it = [&] { drain_held(o, strays); };
  o.door.posted(pending, empty_it);
  const auto crosses = [=](unsigned patience) { return before >> patience != (before + bytes) >> patience; };
  if (heavy_fences_ && crosses(inbox_patience) && (crosses(patience_in_a_crowd) || !waits_for_a_processor(o))) {
    const claim c = o.door.try_claim([] { return os::heavy_fence(); });
    if (c == claim::refused) return;
    os::probe::claim(owner);
    drain(o, strays);
    end_claim(o, c == claim::inherited, strays);
  }
}

// Strays were posted to a LAB that gave their span away in the meantime. Each may stray again, but only as often as
// spans change hands.
void core::deliver(chain& strays) noexcept {
  while (mem::block* const b = strays.first) {
    strays.first = links::next(b, secret_);
    const std::uint32_t w = word_of(b);
    post_to(mem::word::owner(w), b, b, classes::block_size[mem::word::cls(w)], strays);
  }
}

// Takes everything out of a LAB's inbox. What is not (any more) in one of its spans goes to `strays`.
void core::drain(lab& l, chain& strays) noexcept {
  const std::uint64_t bytes = l.in_bytes.load(order::relaxed);
  const os::timeline::span told{os::timeline::kind::drain, l.number, bytes};
  os::probe::drain(l.number, bytes);
  std::uint64_t brought = 0;  // bytes
  // Not read again for each block, between two of which memory is written.
  std::byte* const base = l.base;
  const std::size_t opened = l.opened << mem::grain_shift;
  const mem::secret secret = l.secret;
  const mem::lab_number own = l.number;
  for (mem::block* b = l.in.take_all(); b != nullptr;) {
    if (!links::fit(b, secret)) [[unlikely]]
      report_corrupted(b);
    mem::block* const next = links::next(b, secret);
    const std::uintptr_t offset = address(b) - address(base);
    const mem::grain g = offset < opened ? mem::grain(offset >> mem::grain_shift) : arena_.find(address(b));
    const std::uint32_t w = arena_.words()[g].load(order::acquire);  // sync: span-made
    brought += classes::block_size[mem::word::cls(w)];
    if (put_signposts && has_room(w)) mem::follow_signposts(b, base, opened);
    if (mem::word::owner(w) == own) [[likely]] {
      ++l.home[mem::word::cls(w)];
      free_own(l, arena_.spans()[g], w, b);
    } else {
      links::set(b, strays.first, secret);
      strays.first = b;
    }
    b = next;
  }
  l.in_bytes.fetch_sub(brought, order::relaxed);
  if (brought != 0) note_blocks_came(l);
}

void core::drain_own(lab& l) noexcept {
  chain strays;
  drain(l, strays);
  deliver(strays);
}

void core::note_opened(lab& l) noexcept {
  const std::size_t opened = std::size_t{arena_.main_open()} * mem::grains_per_chunk;
  const std::size_t all = arena_.bytes() >> mem::grain_shift;
  l.opened = opened < all ? opened : all;
}

// Once in a step of decay. What has waited for a whole step goes home; more often would send lists of one block where threads are
// many. And who has just been seen is left alone by the heap's own thread, which therefore has to look again.
POLDER_ALWAYS_INLINE void core::note_step(lab& l) noexcept {
  const std::uint32_t step = step_.load(order::relaxed), seen = l.seen.load(order::relaxed);
  if (step == seen) [[likely]]
    return;
  l.seen.store(step, order::relaxed);
  l.thins_due = l.owned_count / 16 < most_thins ? l.owned_count / 16 : most_thins;
  if (step / steps_of_rest != seen / steps_of_rest) {
    l.wanted_before = l.wanted;
    l.wanted = 0;
  }
  ask_whether_watched(l);
  if (!l.shelved.empty()) clear_shelf(l);
  l.out.flush_all([&](const outbox::list& list) { post_list(l, list); });
  have_it_tended();
}

// What every slow path does besides its own work.
void core::service(lab& l) noexcept {
  ++l.refills;
  l.swept.store(0, order::relaxed);
  note_opened(l);
  if (!l.in.empty()) drain_own(l);
  note_step(l);
  if (l.thins_due != 0) [[unlikely]]
    l.thins_due = thin_some(l, 64, 1, false).all ? 0 : l.thins_due - 1;
  decay();
}

void core::note_return(lab& l) noexcept {
  ask_whether_watched(l);
  note_blocks_came(l);
  note_step(l);
  have_it_tended();
}

void core::report_free(const void* p) const noexcept {
  const mem::grain g = arena_.find(address(p));
  const bool odd = !is_aligned(address(p), min_alignment);
  if (g == 0) {
    if (guarded_.has(p)) guarded_.report_free(p);
    const bool known = (arena_.map().find(address(p)) & mem::radix_map::huge_mark) != 0;
    mem::report(!known ? mem::misuse::foreign_pointer
                : odd  ? mem::misuse::misaligned_free
                       : mem::misuse::invalid_free,
                p, {.remark = known ? "not the beginning of the block" : "not memory of this heap"});
  }
  const std::uint32_t w = arena_.words()[g].load(order::relaxed);
  const unsigned c = mem::word::cls(w);
  std::byte* const start = arena_.address_of(g);
  if (c == mem::word::large)
    mem::report(odd ? mem::misuse::misaligned_free : mem::misuse::invalid_free, p,
                {.remark = "not the beginning of the block"});
  if (c == 0 || c > classes::count)
    mem::report(mem::misuse::invalid_free, p,
                {.remark = "nothing is allocated there; a double free, or a stray pointer"});
  const mem::misuse_place where{
      .block_size = classes::block_size[c], .span = start, .cls = c, .owner = mem::word::owner(w)};
  const auto offset = std::uint32_t(address(p) & (mem::grain_size - 1));
  if (!mem::divides(classes::multiplier[c], offset)) mem::report(mem::misuse::misaligned_free, p, where);
  if (offset < classes::usable_bytes[c] &&
      (links::fit(static_cast<const mem::block*>(p), secret_) || is_returned(p)))
    mem::report(mem::misuse::double_free, p, where);
  mem::report(mem::misuse::invalid_free, p, where);
}

void core::report_corrupted(const void* p) const noexcept {
  const mem::grain g = arena_.find(address(p));
  if (g == 0) mem::report(mem::misuse::corrupted, p);
  const std::uint32_t w = arena_.words()[g].load(order::relaxed);
  const unsigned c = mem::word::cls(w);
  mem::report(mem::misuse::corrupted, p,
              {.block_size = c <= classes::count ? classes::block_size[c] : 0,
               .span = arena_.address_of(g),
               .cls = c,
               .owner = mem::word::owner(w),
               .remark = "written to after it was freed, or by an overrun of the block before it"});
}

void core::check_size(const void* p, std::size_t n, std::size_t alignment) const noexcept {
  const std::size_t held = usable_size(p);
  if (arena_.find(address(p)) == 0) {
    if (guarded_.has(p)) {
      if (n > held || (held > align_up(n, alignment) && !kept_though_small_.load(order::relaxed))) report_size(p);
      return;
    }
    if (!huge_.suits(huge_.find(p), n)) report_size(p);
    return;
  }
  if (n > held) report_size(p);
  if (n > held / 2 || kept_though_small_.load(order::relaxed)) return;
  const std::size_t grown = mem::grains_for(n + n / 4) << mem::grain_shift;  // the room realloc leaves
  const bool small = held <= mem::size_class::stepped::largest;
  if (small ? held != classes::block_size[classes::aligned(n, alignment)] : held > grown) report_size(p);
}

void core::check_aligned_size(const void* p, std::size_t alignment, std::size_t n) const noexcept {
  const std::size_t given = alignment_given(alignment);
  if (!is_aligned(address(p), given)) report_size(p);
  // What is aligned more than malloc's blocks has a byte at least, whatever was asked for.
  check_size(p, n == 0 && usable_size(p) != 0 ? 1 : n, given);
}

void core::report_size(const void* p) const noexcept {
  const mem::grain g = arena_.find(address(p));
  const std::uint32_t w = g != 0 ? arena_.words()[g].load(order::relaxed) : 0;
  const unsigned c = mem::word::cls(w);
  const bool small = c != 0 && c <= classes::count;
  mem::report(mem::misuse::size_mismatch, p,
              {.block_size = usable_size(p),
               .span = small ? arena_.address_of(g) : p,
               .cls = small ? c : 0,
               .owner = mem::word::owner(w),
               .remark = "the size or alignment it is freed with was never asked for"});
}

}  // namespace polder::heap
