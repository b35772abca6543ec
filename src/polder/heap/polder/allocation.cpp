// core: blocks of a size class, from the hot span to the arena.
#include <polder/base/check.hpp>
#include <polder/heap/polder/core.hpp>
#include <polder/mem/misuse.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/probe.hpp>
#include <polder/os/timeline.hpp>

namespace polder::heap {

void* core::allocate(lab& l, std::size_t n) noexcept {
  if (watches()) [[unlikely]]
    return allocate_watched(l, n, n);
  return allocate_unwatched(l, n);
}

void* core::allocate_with_room(lab& l, std::size_t room, std::size_t n) noexcept {
  if (watches()) [[unlikely]]
    return allocate_watched(l, room, n);
  return allocate_unwatched(l, room);
}

void* core::allocate_unwatched(lab& l, std::size_t n) noexcept {
  if (n <= mem::size_class::stepped::largest) return allocate_class(l, mem::size_class::stepped::of(n), nullptr);
  return allocate_large(l, n, min_alignment).p;
}

void* core::allocate_zeroed(lab& l, std::size_t n) noexcept {
  if (watches()) [[unlikely]]
    return allocate_zeroed_watched(l, n);
  return allocate_zeroed_unwatched(l, n);
}

void* core::allocate_zeroed_unwatched(lab& l, std::size_t n) noexcept {
  if (n > mem::size_class::stepped::largest) return allocate_large_zeroed(l, n);
  bool zero = false;
  void* const p = allocate_class(l, mem::size_class::stepped::of(n), &zero);
  if (p && zero) static_cast<mem::block*>(p)->link = nullptr;  // the key is wiped already
  if (p && !zero) __builtin_memset(p, 0, n);
  return p;
}

void* core::allocate_aligned(lab& l, std::size_t alignment, std::size_t n) noexcept {
  const unsigned c = classes::aligned(n, alignment);
  void* const p = c == 0              ? allocate_large(l, n, alignment).p
                  : options_.hardened ? allocate_untouched(l, c)
                                      : allocate_class(l, c, nullptr);
  return counted(l, p, n);
}

void* core::pop(lab& l, mem::span& s) noexcept {
  mem::block* const b = s.free;
  if (!links::fit(b, l.secret)) [[unlikely]]
    report_corrupted(b);
  return take_first(s, l.secret);
}

void* core::allocate_class(lab& l, unsigned c, bool* zero) noexcept {
  if (shelf::suits(c) && l.shelved.first(c) != nullptr) {
    look_at_the_clock(l);
    return take_down(l, c);
  }
  mem::span& s = *l.hot[c];
  if (!s.has_free()) return l.out.is_mixed() ? take_back_or_refill(l, c, zero) : refill(l, c, zero);
  look_at_the_clock(l);
  return pop(l, s);
}

// Threads the next blocks of a span onto its free list, in address order: a page's worth, and so many at least as the span
// is worth a visit for.
POLDER_ALWAYS_INLINE bool core::thread_next(lab& l, mem::span& s) noexcept {
  if (s.bumped >= s.usable) return false;
  std::byte* const start = arena_.address_of(number_of(s)) + s.bumped;
  const std::uint32_t size = s.block_size;
  std::uint32_t n = s.bumped == 0 && s.usable > 4096 ? 4096 / size : (4096 + size - 1) / size;
  const std::uint32_t left = (s.usable - s.bumped) / size;
  if (n < s.at_once) n = s.at_once;
  if (n > left) n = left;
  l.handed_out += n * size;
  const mem::secret secret = l.secret;
  auto* b = reinterpret_cast<mem::block*>(start);
  std::byte* const last = start + (n - 1) * size;
  for (std::byte* next = start; next != last;) {  // upwards, as the processor looks ahead beyond a page
    next += size;
    links::set(b, reinterpret_cast<mem::block*>(next), secret);
    b = reinterpret_cast<mem::block*>(next);
  }
  links::set(b, s.free, secret);
  s.free = reinterpret_cast<mem::block*>(start);
  s.bumped += n * size;
  s.handed = mem::scaled(s.multiplier, s.bumped);
  return true;
}

bool core::extend(lab& l, mem::span& s) noexcept {
  if (s.returned.load(order::relaxed) != 0) [[unlikely]]
    return extend_thin(l, s);
  return thread_next(l, s);
}

// The same for a span of which pages were given back. Where the cap keeps those away, the pages of blocks that were never handed out
// are counted all the same. Frees look as before from the first block on a page that is gone.
[[gnu::cold]] POLDER_NOINLINE bool core::extend_thin(lab& l, mem::span& s) noexcept {
  if (take_pages_back(s)) return true;
  const std::uint32_t handed = s.handed;
  if (!thread_next(l, s)) return false;
  s.handed = handed;
  return true;
}

// A block of class c that was about to be sent home, and still lies in the processor's cache. Null: none is at hand, or none is to
// be had so: only in a crowd, where what was freed would wait in inboxes of threads that do not run; and of two lines or more, so
// that it shares at most its ends with blocks of other threads.
//
// Called where the outbox is mixed (outbox::is_mixed): a stock of blocks that one former owner made goes home, and what takes its
// place is the thread's own, whose frees cost less.
POLDER_ALWAYS_INLINE void* core::take_back(lab& l, unsigned c) noexcept {
  constexpr std::uint32_t least = 2 * cache_line;
  const std::uint32_t size = classes::block_size[c];
  if (size < least || watches() || !is_a_crowd(labs_made())) return nullptr;
  const mem::block* const nearest = l.out.nearest();
  if (mem::word::cls(word_of(nearest)) != c) return nullptr;
  if (!links::fit(nearest, l.secret)) report_corrupted(nearest);
  ++l.home[c];
  mem::block* const b = l.out.take_back(tallies[c], l.secret);
  b->wipe();
  if ((++l.taken_back & 15) == 0) service(l);  // who finds blocks so comes by nowhere else
  return b;
}

// In a function of its own: a refill where nothing can be taken back pays a comparison for it.
POLDER_NOINLINE void* core::take_back_or_refill(lab& l, unsigned c, bool* zero) noexcept {
  if (void* const p = take_back(l, c)) return p;
  return refill(l, c, zero);
}

// Once for each of its users, so that a refill of which nobody keeps a record, and that is not hardened, pays for neither.
template <auto extend_by>
POLDER_ALWAYS_INLINE void* core::find_block(lab& l, unsigned c, bool* zero) noexcept {
  l.for_a_page = {};
  service(l);
  for (;;) {
    mem::span* s = l.hot[c];
    if (s->has_free()) return pop(l, *s);  // the inbox brought something
    const std::uint32_t known = s->bumped;
    if ((this->*extend_by)(l, *s)) {
      auto* const p = static_cast<std::byte*>(pop(l, *s));
      if (zero) *zero = s->zero && std::size_t(p - arena_.address_of(number_of(*s))) >= known;
      return p;
    }
    if (s->returned.load(order::relaxed) != 0) [[unlikely]] {  // for the cap is in the way
      if (do_without_page(l, c)) continue;
      return os::probe::oom(classes::block_size[c]), nullptr;
    }
    cool(l, c);
    l.wanted |= class_bit(c);
    if (l.partial[c].first == 0 && adopt(l, c)) continue;
    if (l.partial[c].first != 0) {
      s = open_early(l, c);
      if (!s) {
        s = &arena_.spans()[l.partial[c].first];
        unlist_partial(l, *s);
        l.fresh[c] = 0;
      }
    } else {
      l.early[c] = 0;
      s = open_span(l, c);
      if (!s) {
        if (l.partial[c].first != 0) continue;  // what was done for want of memory brought blocks of this class
        return nullptr;
      }
    }
    make_hot(l, *s);
  }
}

void* core::refill(lab& l, unsigned c, bool* zero) noexcept {
  os::probe::refill(c, classes::block_size[c]);
  if (os::timeline::on()) [[unlikely]]
    return refill_told(l, c, zero);
  return find_block<&core::extend>(l, c, zero);
}

[[gnu::cold]] POLDER_NOINLINE void* core::refill_told(lab& l, unsigned c, bool* zero) noexcept {
  const os::timeline::span told{os::timeline::kind::refill, c, classes::block_size[c]};
  return find_block<&core::extend>(l, c, zero);
}

void* core::refill_at_random(lab& l, unsigned c) noexcept {
  os::probe::refill(c, classes::block_size[c]);
  return find_block<&core::extend_at_random>(l, c, nullptr);
}

// Whether the next span of class c will be filled, as far as one can tell: who has some of a class has filled them; and so has who
// has several, of whatever classes, with little in them that was never handed out. But a huge page is much for a heap in which less
// than `little` was ever handed out, if the other LABs' spans are as full as this one's.
bool core::will_fill(const lab& l, unsigned c) const noexcept {
  constexpr unsigned several = 8;
  constexpr std::uint64_t enough = mem::grain_size / 8 * 5;
  constexpr std::uint64_t little = 9 * MiB / 4;
  const bool filled_some = l.owned_of[c] > 1;
  const bool filled_others = l.owned_count >= several && l.handed_out >= l.owned_count * enough;
  if (!filled_some && !filled_others) return false;
  const mem::grain_pool::counts n = grains_.count();
  return (n.taken + n.dirty) * l.handed_out >= l.owned_count * little;
}

// A span of class c on a grain from the pool. Null: there is no memory, or there are partial spans of the class by now.
mem::span* core::open_span(lab& l, unsigned c) noexcept {
  relieve(l, mem::grain_size);
  for (attempts so_far;;) {
    if (l.partial[c].first != 0) return nullptr;
    if (mem::span* const s = try_open(l, c)) return s;
    if (!make_room(&l, mem::grain_size, so_far)) return os::probe::oom(classes::block_size[c]), nullptr;
  }
}

// Null: the partial span that waited longest is good enough. Where a set of blocks neither grows nor shrinks, all spans are full, so
// that each free reopens one, and each malloc takes its only block and closes it again. With a few spans more than are needed the
// others have time to collect: one for sixteen of the class, until there was no partial one again, while that one has less than a
// thirty-second of its blocks.
mem::span* core::open_early(lab& l, unsigned c) noexcept {
  if (l.early[c] >= l.owned_of[c] / 16) [[likely]]
    return nullptr;
  const mem::span& waited = arena_.spans()[l.partial[c].first];
  if (waited.usable - waited.used * waited.block_size >= waited.usable / 32) return nullptr;
  if (keeps_nothing(mem::grain_size)) return nullptr;
  mem::span* const s = try_open(l, c);
  l.early[c] += s != nullptr;
  return s;
}

// Whether the list of an empty span leads from block to block nearby: the processor then looks ahead along it. It does not where
// blocks were freed in another order than they lie, as the nodes of a tree are, and each malloc would wait for its block.
bool core::leads_nearby(const mem::span& s) const noexcept {
  constexpr unsigned steps = 16;
  constexpr unsigned far_ones = 4;
  const std::uint64_t near = s.block_size > 2 * cache_line ? s.block_size : 2 * cache_line;
  const mem::block* b = s.free;
  for (unsigned i = 0, far = 0; i < steps && links::fit(b, secret_); ++i) {
    const mem::block* const next = links::next(b, secret_);
    if (next != mem::list_end() && address(next) - address(b) + near > 2 * near && ++far == far_ones) return false;
    b = next;
  }
  return true;
}

// A span of class c on a grain that can be had at once. Null: there is none.
mem::span* core::try_open(lab& l, unsigned c) noexcept {
  const auto density = will_fill(l, c) ? mem::grain_pool::density::dense : mem::grain_pool::density::sparse;
  const mem::grain_pool::run r = grains_.take(1, l.trail, site_here(), density);
  if (r.first == 0) return nullptr;
  mem::span& s = arena_.spans()[r.first];
  if (r.list != c || !leads_nearby(s)) {  // else it goes on as the list that it is
    s.free = mem::list_end();
    s.bumped = 0;
    s.handed = 0;
    s.multiplier = classes::multiplier[c];
    s.usable = classes::usable_bytes[c];
    s.block_size = classes::block_size[c];
    s.cls = std::uint8_t(c);
  }
  s.used = 0;
  s.zero = r.zero;
  s.sampled_places.store(0, order::relaxed);
  s.sampled.store(0, order::relaxed);  // a run's record may have lain there
  s.returned.store(0, order::relaxed);
  own(l, s);
  arena_.words()[r.first].store(mem::word::tag(l.number) | c, order::release);  // sync: span-made
  // A class that has taken several fresh spans in a row grows: one call for its pages instead of a fault each.
  if (r.zero) {
    huge_.give_way();
    if (l.fresh[c] < 255) ++l.fresh[c];
  } else {
    l.fresh[c] = 0;
  }
  have_it_tended();
  const bool grows = options_.populate && l.fresh[c] > 4;
  if (grows) os::populate(arena_.address_of(r.first), align_up(s.usable, arena_.page()));
  // Where all pages are there, to touch several at once costs no memory and saves as many refills. Of a dirty grain some are.
  s.at_once = grows ? 8 : 1;
  os::probe::span_open(c, r.first);
  return &s;
}

void core::set_hot(lab& l, unsigned c, mem::span* s) noexcept {
  l.hot[c] = s;
  l.hots = s == &none_ ? l.hots & ~class_bit(c) : l.hots | class_bit(c);
  set_direct(l, c, s);
}

void core::set_direct(lab& l, unsigned c, mem::span* s) noexcept {
  if (classes::block_size[c] > lab::direct_limit || options_.hardened) return;
  mem::span** const direct = l.watched ? l.counted : l.direct;
  const std::size_t first = c == 1 ? 0 : classes::block_size[c - 1] / 16 + 1;
  for (std::size_t i = first; i <= classes::block_size[c] / 16; ++i) direct[i] = s;
}

void core::make_hot(lab& l, mem::span& s) noexcept {
  s.become(mem::span_state::hot);
  s.used += one_more(l.keeps, s.cls);
  set_hot(l, s.cls, &s);
  // It stays when it runs empty, whoever brought the block for which it was made hot.
  l.swept.store(0, order::relaxed);
}

// Not inlined: refill would keep registers for it each time.
POLDER_NOINLINE void core::cool(lab& l, unsigned c, left how) noexcept {
  mem::span& s = *l.hot[c];
  if (&s == &none_) return;
  set_hot(l, c, &none_);
  s.used -= one_more(l.keeps, c);
  if (s.used == 0) {
    s.become(mem::span_state::free);
    disown(l, s);
    give_span(l, s, how);
  } else if (s.has_more()) {
    s.become(mem::span_state::partial);
    list_partial(l, s);
  } else {
    s.become(mem::span_state::full);
    auto& w = arena_.words()[number_of(s)];
    w.store(w.load(order::relaxed) | mem::word::full_bit, order::relaxed);
  }
}

void core::list_partial(lab& l, mem::span& s) noexcept {
  auto& list = l.partial[s.cls];
  const mem::grain g = number_of(s);
  s.next = 0;
  s.prev = list.last;
  (list.last ? arena_.spans()[list.last].next : list.first) = g;
  list.last = g;
  l.partials |= class_bit(s.cls);
}

void core::unlist_partial(lab& l, mem::span& s) noexcept {
  auto& list = l.partial[s.cls];
  (s.prev ? arena_.spans()[s.prev].next : list.first) = s.next;
  (s.next ? arena_.spans()[s.next].prev : list.last) = s.prev;
  if (list.first == 0) l.partials &= ~class_bit(s.cls);
}

void core::own(lab& l, mem::span& s) noexcept {
  s.prev_owned = 0;
  s.next_owned = l.owned;
  if (l.owned) arena_.spans()[l.owned].prev_owned = number_of(s);
  l.owned = number_of(s);
  ++l.owned_count;
  l.handed_out += s.bumped;
  ++l.owned_of[s.cls];
}

void core::disown(lab& l, mem::span& s) noexcept {
  if (l.thin_next == number_of(s)) l.thin_next = s.next_owned;
  (s.prev_owned ? arena_.spans()[s.prev_owned].next_owned : l.owned) = s.next_owned;
  if (s.next_owned) arena_.spans()[s.next_owned].prev_owned = s.prev_owned;
  --l.owned_count;
  l.handed_out -= s.bumped;
  --l.owned_of[s.cls];
}

// Empty spans and freed runs, back to where anyone can have them. `gone`: bytes of them that went to the system before; `list`:
// the class of which a span is a whole list (grain_pool::give).
void core::give_grains(mem::trail* trail, mem::grain first, unsigned n, left how, std::size_t gone,
                       unsigned list) noexcept {
  os::probe::span_give(first, n);
  arena_.words()[first].store(0, order::relaxed);
  if (trail) trail->chunk = mem::chunk_of(first);
  std::byte* const p = arena_.address_of(first);
  if (keeps_nothing()) {
    how = emptied_at_once(p, n * mem::grain_size, how);
    list = 0;
  }
  if (!grains_.give(first, n, how, gone, list)) report_corrupted(p);
  if (trail && how == left::dirty) trail->note(first, n);
  have_it_tended();
}

}  // namespace polder::heap
