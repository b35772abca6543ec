#include <polder/heap/scalloc/front.hpp>

#include <polder/base/check.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap::scalloc {

front_core::front_core(const heap_setting& s, const variant& v) noexcept
    : setting_(s),
      variant_(v),
      pool_(v.span_pool ? os::processors() : 1),
      threshold_percent_(std::uint32_t(s.asked.tuned[reuse_percent])),
      madvise_above_(v.madvise ? s.asked.tuned[madvise_threshold] : SIZE_MAX),
      model_(labs(s.asked.tuned[lab_model])) {}

bool front_core::begin() noexcept {
  const options& o = setting_.asked;
  const bool had = arena_.reserve({.bytes = o.arena_size,
                                   .virtual_span = 2 * MiB << o.tuned[virtual_span],
                                   .page = setting_.page,
                                   .protect = o.tuned[protect] != 0,
                                   .huge_pages = !variant_.virtual_spans || o.thp == thp_policy::on,
                                   .leave_huge_pages = variant_.virtual_spans && o.thp == thp_policy::madvise});
  if (had) cuts_ = span_cuts(arena_.virtual_span());
  return had;
}

void front_core::know(cache& k) noexcept {
  if (k.known) return;
  k.known = true;
  known_.push(k);
}

// ---- spans ------------------------------------------------------------------------------------------------------------

span* front_core::new_span(cache& k, unsigned c, bool grows) noexcept {
  const unsigned index = real_spans::index[c];
  const std::size_t real = cuts_.real(c);
  const std::uint32_t blocks = cuts_.blocks(c);
  if (blocks == 0) return nullptr;
  span* s = nullptr;
  if (const span_number n = pool_.get(index, k.number, links())) {
    s = &arena_.at(n);
    ++k.pool_hits;
    k.pool_same_size += real_spans::index[s->cls.load(order::relaxed)] == index;
    k.kept_taken += s->dirty;
    if (variant_.madvise) drop(*s, real);
  } else {
    s = arena_.take(real);
    if (!s) return nullptr;
  }
  if (!arena_.make_readable(*s, real)) {
    k.kept_put += s->dirty;
    pool_.put(*s, index, k.number, links());
    return nullptr;
  }
  s->local.store(list_word(nullptr, blocks), order::relaxed);
  s->remote.store(list_word{}, order::relaxed);
  s->bumped.store(real_spans::first[c], order::relaxed);
  s->capacity.store(blocks, order::relaxed);
  s->threshold.store(std::uint32_t(std::uint64_t{blocks} * threshold_percent_ / 100), order::relaxed);
  s->cls.store(std::uint16_t(c), order::relaxed);
  if (s->dirty < real) {
    const std::size_t kept = align_up(s->dirty, arena_.page());
    if (grows && setting_.asked.populate && kept < real && size_classes::block_size[c] <= longest_populated)
      static_cast<void>(os::populate(reinterpret_cast<std::byte*>(s) + kept, real - kept));
    setting_.memory.rise(real - s->dirty);
    s->dirty = std::uint32_t(real);
  }
  k.real_taken += real;
  ++k.spans_taken;
  return s;
}

// Threads the blocks up to the next page's end, which were never handed out; there is one at least, and none is listed. So the count
// says where they begin: `bumped` lies beyond where a thread that is gone was here when its process forked.
void front_core::extend(span& s, unsigned c) noexcept {
  constexpr std::uint32_t at_a_time = 4 * KiB;
  const std::uint32_t size = size_classes::block_size[c], end = cuts_.end(c);
  const std::uint32_t count = s.local.load(order::relaxed).count(), from = end - count * size;
  POLDER_CHECK(1, count != 0 && from <= s.bumped.load(order::relaxed));
  std::uint32_t to = std::uint32_t(align_down(from + at_a_time, at_a_time));
  to = to > from + size ? from + (to - from) / size * size : from + size;
  if (to > end) to = end;
  auto* const start = reinterpret_cast<std::byte*>(&s);
  mem::block* next = nullptr;
  for (std::uint32_t at = to; at != from;) {
    at -= size;
    auto* const b = reinterpret_cast<mem::block*>(start + at);
    b->set_link(next, setting_.secret);
    next = b;
  }
  s.bumped.store(to, order::relaxed);
  s.local.store(list_word(next, count), order::relaxed);
}

void front_core::give(cache& k, span& s) noexcept {
  const unsigned c = s.cls.load(order::relaxed), index = real_spans::index[c];
  POLDER_CHECK(1, s.epoch.load(order::relaxed).state() == span_state::free);
  if (real_spans::bytes[index] > madvise_above_) drop(s, header_bytes);
  k.real_given += cuts_.real(c);
  k.kept_put += s.dirty;
  ++k.spans_given;
  pool_.put(s, index, k.number, links());
}

// What lies in [from, dirty) of a span that is the caller's alone, or in the pool. Bytes.
std::size_t front_core::drop(span& s, std::size_t from) noexcept {
  const std::size_t bytes = arena_.discard(s, from);
  setting_.memory.fall(bytes);
  return bytes;
}

std::size_t front_core::compact(cache* k) noexcept {
  std::size_t bytes = 0;
  pool_.each(links(), [&](span_number n) { bytes += drop(arena_.at(n), header_bytes); });
  if (k) k->kept_taken += bytes;
  else compacted_.fetch_add(bytes, order::relaxed);
  return bytes;
}

// Of a hot span that cannot go, the pages inside its free blocks, all but those with their links. Its owner calls.
std::size_t front_core::hollow(const span& s, unsigned c) noexcept {
  const std::size_t size = size_classes::block_size[c], page = arena_.page();
  std::size_t bytes = 0;
  if (!variant_.madvise || size < 2 * page) return 0;
  for (auto* b = s.local.load(order::relaxed).first<mem::block>(); b && b->looks_free(setting_.secret);
       b = b->link) {
    auto* const inside = at_address(align_up(address(b) + sizeof(mem::block), page));
    const std::size_t length = align_down(address(b) + size - address(inside), page);
    if (length != 0 && os::discard_now(inside, length) != os::discarded::refused) bytes += length;
  }
  return bytes;
}

// ---- misuse -----------------------------------------------------------------------------------------------------------

// Whether the block is on a list of its span, as far as one can see while others are at work.
bool front_core::is_listed(const span& s, const mem::block* b) const noexcept {
  const unsigned c = s.cls.load(order::relaxed);
  for (const list_word w : {s.local.load(order::relaxed), s.remote.load(order::acquire)}) {  // sync: remote-free
    const auto* at = w.first<const mem::block>();
    for (std::uint32_t left = w.count(); left != 0 && at; --left, at = at->link) {
      if (at == b) return true;
      const bool within = address(at) - address(&s) < cuts_.end(c);
      if (!within || !is_place(at, s, c) || !at->looks_free(setting_.secret)) break;  // somebody has it by now
    }
  }
  return false;
}

void front_core::tell(const void* p, const span& s) const noexcept {
  block_info b = find(p);
  const auto offset = std::uint32_t(address(p) - address(&s));
  b.owner = s.owner.load(order::relaxed).id();
  if (offset >= cuts_.end(b.cls)) b.cls = 0;  // beyond the real span
  report_free(p, b, size_classes::block_size[b.cls], cuts_.is_block(b.cls, offset));
}

// ---- what it says of itself -------------------------------------------------------------------------------------------

void front_core::add_to(statistics& s) const noexcept {
  std::size_t active = 0, kept = 0;
  known_.each([&](const cache& k) {
    active += k.real_taken.glimpse() - k.real_given.glimpse();
    kept += k.kept_put.glimpse() - k.kept_taken.glimpse();
    s.spans += k.spans_taken.glimpse() - k.spans_given.glimpse();
    s.refills += k.refills.glimpse();
    s.remote_frees += k.remote_frees.glimpse();
  });
  kept -= compacted_.load(order::relaxed);
  const std::size_t readable = arena_.readable_bytes();
  if (active > readable) active = readable;  // read one after the other, while others work
  if (kept > readable - active) kept = readable - active;
  s.active += active;
  s.cached += kept;
  s.resident += active + kept;
  s.mapped += readable;
  s.reserved += arena_.bytes();
}

void front_core::check_list(const span& s, list_word w, std::uint32_t listed) const noexcept {
  const unsigned c = s.cls.load(order::relaxed);
  const auto* b = w.first<const mem::block>();
  for (; listed != 0 && b; --listed, b = b->link) {
    const auto offset = std::uint32_t(address(b) - address(&s));
    must(cuts_.is_block(c, offset) && offset < s.bumped.load(order::relaxed));
    must(b->looks_free(setting_.secret));
  }
  must(listed == 0 && !b);
}

std::uint32_t front_core::check_sets(const lab_type& l) const noexcept {
  std::uint32_t listed = 0;
  for (unsigned c = 1; c <= size_classes::count; ++c) {
    must(!l.hot[c] || (l.hot[c]->epoch.load(order::relaxed).state() == span_state::hot &&
                       l.hot[c]->owner.load(order::relaxed) == l.owner.load(order::relaxed)));
    for (const span* s = l.sets[c].oldest(); s; s = s->previous.get(), ++listed) {
      must(s->epoch.load(order::relaxed).state() == span_state::reusable);
      must(s->owner.load(order::relaxed) == l.owner.load(order::relaxed));
      must(s->listed.get() == l.generation.get() && s->cls.load(order::relaxed) == c);
    }
  }
  return listed;
}

void front_core::validate() const noexcept {
  std::uint32_t listed = 0, reusable = 0, pooled = 0, unused = 0;
  known_.each([&](const cache& k) { listed += check_sets(k.own); });
  for (const core_lab& shared : core_labs_) listed += check_sets(shared.own);
  for (span_number n = 1; n <= arena_.taken(); ++n) {
    const span& s = arena_.at(n);
    must(s.number == n);
    const span_state state = s.epoch.load(order::relaxed).state();
    reusable += state == span_state::reusable;
    unused += state <= span_state::free;
    if (state <= span_state::free) continue;
    const unsigned c = s.cls.load(order::relaxed);
    const list_word local = s.local.load(order::relaxed), remote = s.remote.load(order::relaxed);
    const std::uint32_t fresh = (cuts_.end(c) - s.bumped.load(order::relaxed)) / size_classes::block_size[c];
    must(local.count() >= fresh && local.count() + remote.count() <= s.capacity.load(order::relaxed));
    check_list(s, local, local.count() - fresh);
    check_list(s, remote, remote.count());
  }
  pool_.each(links(), [&](span_number n) {
    ++pooled;
    must(n <= arena_.taken() && arena_.at(n).epoch.load(order::relaxed).state() <= span_state::free);
  });
  must(in_child_ || (listed == reusable && pooled == unused));
}

}  // namespace polder::heap::scalloc
