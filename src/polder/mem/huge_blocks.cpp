#include <polder/mem/huge_blocks.hpp>

#include <utility>

#include <polder/base/align.hpp>
#include <polder/base/has_passed.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/probe.hpp>

namespace polder::mem {

static_assert(huge_blocks::shortest >= grain_size);

std::uint32_t huge_blocks::new_number() noexcept {
  if (const std::uint32_t n = free_numbers_.pop(links())) return n;
  return records_.add();
}

void huge_blocks::retire_number(std::uint32_t number) noexcept { free_numbers_.push(number, links()); }

bool huge_blocks::publish(std::uint32_t number, std::uintptr_t user) noexcept {
  if (!map_.store(user, radix_map::huge_mark | number)) return false;
  records_.at(number).user.store(user, order::release);  // sync: huge-user
  return true;
}

std::uint32_t huge_blocks::find(const void* p) const noexcept {
  const std::uint32_t v = map_.find(address(p));
  if ((v & radix_map::huge_mark) == 0) return 0;
  const std::uint32_t number = v & ~radix_map::huge_mark;
  return records_.at(number).user.load(order::acquire) == address(p) ? number : 0;  // sync: huge-user
}

std::size_t huge_blocks::usable(std::uint32_t number) const noexcept {
  const record& r = records_.at(number);
  return r.bytes.get() - (r.user.load(order::relaxed) - address(r.base.get()));
}

// The mapping that a slot of the cache was seen to hold: ours now, unless somebody was there first.
bool huge_blocks::uncache(atomic<std::uint64_t>& slot, std::uint64_t v) noexcept {
  if (!slot.cas(v, 0, order::acquire, order::relaxed)) return false;  // sync: huge-cache
  cached_.fetch_sub(cached::pages(v) * page_, order::relaxed);
  return true;
}

bool huge_blocks::uncache(std::uint32_t number) noexcept {
  for (auto& slot : cache_) {
    const std::uint64_t v = slot.load(order::relaxed);
    if (v != 0 && cached::number(v) == number) return uncache(slot, v);
  }
  return false;
}

// A cached mapping of at least `bytes` and not much more; its number, now ours.
std::uint32_t huge_blocks::take_cached(std::size_t bytes) noexcept {
  const std::size_t least = bytes / page_;
  const std::size_t most = least + least / 4;
  for (auto& slot : cache_) {
    const std::uint64_t v = slot.load(order::relaxed);
    if (v == 0 || cached::pages(v) < least || cached::pages(v) > most) continue;
    if (uncache(slot, v)) return cached::number(v);
  }
  return 0;
}

// So many bytes of the longest cached mapping, for a block that grows: the rest stays in the cache, and the block will have it
// where it lies, page by page as it was left, if it is still there by then.
std::uint32_t huge_blocks::take_front(std::size_t bytes) noexcept {
  atomic<std::uint64_t>* longest = nullptr;
  std::uint64_t found = 0;
  for (auto& slot : cache_) {
    const std::uint64_t v = slot.load(order::relaxed);
    if (cached::pages(v) * page_ < bytes || cached::pages(v) <= cached::pages(found)) continue;
    longest = &slot;
    found = v;
  }
  if (!longest || !uncache(*longest, found)) return 0;
  record& r = records_.at(cached::number(found));
  const std::size_t rest = r.bytes.get() - bytes;
  if (const std::uint32_t number = rest >= shortest ? new_number() : 0; number != 0) {
    record& behind = records_.at(number);
    behind.base.set(r.base.get() + bytes);
    behind.bytes.set(rest);
    behind.rest.set(r.rest.get());
    r.bytes.set(bytes);
    r.rest.set(number);
    keep_or_unmap(number);
  }
  return cached::number(found);
}

// Mapping `number` gets back what was cut off behind it, until it has `wanted` bytes, as far as that is still in the cache.
void huge_blocks::rejoin(std::uint32_t number, std::size_t wanted) noexcept {
  record& r = records_.at(number);
  while (r.rest.get() != 0 && r.bytes.get() < wanted) {
    const std::uint32_t rest = r.rest.get();
    if (!uncache(rest)) return;
    record& behind = records_.at(rest);
    const std::size_t missing = wanted - r.bytes.get();
    if (behind.base.get() != r.base.get() + r.bytes.get()) {  // another mapping has that number by now
      r.rest.set(0);
      keep_or_unmap(rest);
    } else if (behind.bytes.get() >= missing && behind.bytes.get() - missing >= shortest) {
      behind.base.set(behind.base.get() + missing);
      behind.bytes.set(behind.bytes.get() - missing);
      r.bytes.set(wanted);
      keep_or_unmap(rest);
    } else {
      r.bytes.set(r.bytes.get() + behind.bytes.get());
      r.rest.set(behind.rest.get());
      retire_number(rest);
    }
  }
}

// So that whole huge pages can be had, and move. Null: not to be had, or the ends could not be given back.
void* huge_blocks::reserve_at_huge_page(std::size_t bytes) noexcept {
  if (ends_stay_.load(order::relaxed)) return nullptr;
  bool cut;
  void* const p = os::reserve_at_multiple(bytes, huge_page, cut, os::use_of_reserved::whole);
  if (!cut) ends_stay_.store(true, order::relaxed);
  return p;
}

// Zeroed memory; null: the system refuses.
std::byte* huge_blocks::map(std::size_t bytes, bool in_huge_pages) noexcept {
  if (void* const p = in_huge_pages ? reserve_at_huge_page(bytes) : nullptr) {
    if (os::commit(p, bytes)) return os::advise_huge_pages(p, bytes, true), static_cast<std::byte*>(p);
    os::unmap(p, bytes);
  }
  return static_cast<std::byte*>(os::map(bytes));
}

// The same at a multiple of an alignment beside which the block is little: what lies around it is not had.
std::byte* huge_blocks::map_at_multiple(std::size_t bytes, std::size_t alignment) noexcept {
  bool cut;
  void* const p = os::reserve_at_multiple(bytes, alignment, cut, os::use_of_reserved::whole);
  if (!p || os::commit(p, bytes)) return static_cast<std::byte*>(p);
  os::unmap(p, bytes);
  return nullptr;
}

huge_blocks::block_info huge_blocks::take(std::size_t n, std::size_t alignment, bool grows) noexcept {
  const std::size_t asked = n;
  const std::size_t slack = alignment > os::page_size() ? alignment - os::page_size() : 0;  // map() aligns to those
  if (n < shortest) n = shortest;
  if (n > os::most_mapped || slack > os::most_mapped - n)
    return {};  // before it counts, and others are short for it
  const bool at_multiple = slack >= n;
  std::size_t bytes = align_up(at_multiple ? n : n + slack, page_);
  const bool in_huge_pages = grows && huge_pages_ && (bytes >= worth_huge_pages || budget_.used() >= large_heap);
  const std::size_t more = in_huge_pages && bytes < worth_huge_pages ? worth_huge_pages : roomy(bytes);
  if (grows && !budget_.is_short(more)) bytes = more;
  bool zero = false;
  std::uint32_t number = at_multiple ? 0 : take_cached(bytes);
  if (number == 0 && !at_multiple && (grows || while_unwanted_ != 0)) number = take_front(bytes);
  if (number == 0 && !at_multiple) number = take_stuck(bytes);
  if (number == 0) {
    make_room(bytes);
    budgeted_length held(budget_, 0);
    if (!held.reach(bytes)) return {};
    number = new_number();
    if (number == 0) return held.settle(0), block_info{};
    const auto map_it = [&] { return at_multiple ? map_at_multiple(bytes, alignment) : map(bytes, in_huge_pages); };
    std::byte* base = map_it();
    if (!base && purge(true) != 0) base = map_it();
    if (!base) return held.settle(0), retire_number(number), block_info{};
    held.settle(bytes);
    records_.at(number).base.set(base);
    records_.at(number).bytes.set(bytes);
    records_.at(number).rest.set(0);
    zero = true;
    os::probe::huge_map(base, bytes);
  }
  std::byte* const p = at_address(align_up(address(records_.at(number).base.get()), alignment));
  records_.at(number).asked.set(asked);
  const std::size_t length = records_.at(number).bytes.get();  // afterwards the record belongs to the block's user
  if (!publish(number, address(p))) return unmap(number), block_info{};
  live_.fetch_add(length, order::relaxed);
  return {p, zero};
}

// For a mapping of so many bytes: cached ones go where they are in the way.
void huge_blocks::make_room(std::size_t bytes) noexcept {
  if (budget_.is_short(bytes)) purge_cache(true);
  else if (keeps_more_than_usual() && budget_.used() + bytes > budget_.peak()) fit_cache();
}

void huge_blocks::unmap(std::uint32_t number) noexcept {
  budget_.give(records_.at(number).bytes.get());
  let_go(number);
}

// Of a mapping that does not count any more. False: the system would not take it back.
bool huge_blocks::let_go(std::uint32_t number) noexcept {
  record& r = records_.at(number);
  if (os::unmap(r.base.get(), r.bytes.get())) {
    os::probe::huge_unmap(r.base.get(), r.bytes.get());
    retire_number(number);
    return true;
  }
  // The kernel cannot split its tables: drop the pages, and keep the addresses for the next block.
  os::discard_now(r.base.get(), r.bytes.get());
  stuck_.push(number, links());
  return false;
}

// The shortest that is long enough of a few mappings that the system would not take back. The others stay where they were, without
// a system call: there may be thousands, and what was refused a moment ago is refused again.
std::uint32_t huge_blocks::take_stuck(std::size_t bytes) noexcept {
  std::uint32_t others[few], fitting = 0;
  unsigned n = 0;
  for (unsigned seen = 0; seen != few; ++seen) {
    const std::uint32_t one = stuck_.pop(links());
    if (one == 0) break;
    const std::size_t length = records_.at(one).bytes.get();
    const bool fits = length >= bytes && (fitting == 0 || length < records_.at(fitting).bytes.get());
    const std::uint32_t other = fits ? fitting : one;
    if (fits) fitting = one;
    if (other != 0) others[n++] = other;
  }
  if (fitting != 0 && !budget_.take(records_.at(fitting).bytes.get())) others[n++] = std::exchange(fitting, 0);
  while (n != 0) stuck_.push(others[--n], links());
  return fitting;
}

// Offers the system again what it would not take back: all of it, or a few until it refuses one.
void huge_blocks::offer_stuck(bool all) noexcept {
  if (all) {
    for (std::uint32_t n = stuck_.take_all(links()); n != 0;) {
      const std::uint32_t next = records_.at(n).next.load(order::relaxed);
      let_go(n);
      n = next;
    }
    return;
  }
  for (unsigned i = 0; i != few; ++i) {
    const std::uint32_t n = stuck_.pop(links());
    if (n == 0 || !let_go(n)) return;
  }
}

bool huge_blocks::is_cached(const void* p) const noexcept {
  for (const auto& slot : cache_) {
    const std::uint64_t v = slot.load(order::acquire);  // sync: huge-cache
    if (v != 0 && records_.at(cached::number(v)).base.get() == p) return true;
  }
  return false;
}

bool huge_blocks::give(std::uint32_t number, const void* p) noexcept {
  record& r = records_.at(number);
  std::uintptr_t user = address(p);
  if (!r.user.cas(user, 0, order::acq_rel, order::relaxed)) return false;  // sync: huge-user
  map_.store(address(p), 0);
  live_.fetch_sub(r.bytes.get(), order::relaxed);
  rejoin(number, SIZE_MAX);
  keep_or_unmap(number);
  return true;
}

std::size_t huge_blocks::worth_keeping(std::size_t cached) const noexcept {
  const std::size_t held = budget_.used();
  const std::size_t share = worth_keeping_beside(held > cached ? held - cached : 0);
  return share > cache_bytes ? share : cache_bytes;
}

// A mapping that nobody uses goes to the cache where that has room.
void huge_blocks::keep_or_unmap(std::uint32_t number) noexcept {
  const std::size_t bytes = records_.at(number).bytes.get();
  const std::size_t all = cached_.fetch_add(bytes, order::relaxed) + bytes;
  const bool is_little = all <= while_unwanted_ || all <= worth_keeping(all);
  if (bytes / page_ <= cached::most_pages && is_little && !budget_.is_short())
    for (auto& slot : cache_) {
      std::uint64_t none = 0;
      if (slot.load(order::relaxed) != 0) continue;
      const std::uint64_t entry = cached::make(number, bytes / page_);
      if (slot.cas(none, entry, order::release, order::relaxed)) return;  // sync: huge-cache
    }
  cached_.fetch_sub(bytes, order::relaxed);
  unmap(number);
}

// What a block that grows to `bytes` gets, for it will grow again: an eighth more, which costs address space until it is touched.
// Of huge pages as many whole ones as end within that eighth: more would bring in what nobody has asked for.
std::size_t huge_blocks::roomy(std::size_t bytes) const noexcept {
  const std::size_t room = align_up(bytes + bytes / 8, page_);
  const std::size_t whole = align_down(room, huge_page);
  return huge_pages_ && whole >= bytes ? whole : room;
}

// Moves block `number` to a longer mapping. Null: nothing changed.
std::byte* huge_blocks::move(std::uint32_t number, std::uintptr_t user, std::size_t bytes,
                             bool at_huge_page) noexcept {
  void* place = at_huge_page ? reserve_at_huge_page(bytes) : nullptr;
  if (!place) place = os::reserve(bytes);
  std::byte* const base =
      place ? move_to(static_cast<std::byte*>(place), number, user, bytes) : move_anywhere(number, user, bytes);
  if (!base) return nullptr;
  record& r = records_.at(number);
  const std::size_t before = user - address(r.base.get());
  r.base.set(base);
  r.rest.set(0);
  r.user.store(address(base) + before, order::release);  // sync: huge-user
  return base;
}

// Its pages, to a place that was reserved for them. The new place is ours, and known to the map, before the pages go there: an
// address that is given up first may be another thread's block a moment later.
std::byte* huge_blocks::move_to(std::byte* base, std::uint32_t number, std::uintptr_t user,
                                std::size_t bytes) noexcept {
  record& r = records_.at(number);
  const std::size_t before = user - address(r.base.get());
  if (!map_.store(address(base) + before, radix_map::huge_mark | number)) return os::unmap(base, bytes), nullptr;
  map_.store(user, 0);
  if (const os::moved how = os::move(r.base.get(), r.bytes.get(), base, bytes); how != os::moved::there) {
    // Where the place is lost, a block of another thread's may begin there by now, which the map knows.
    map_.forget(address(base) + before, radix_map::huge_mark | number);
    if (how == os::moved::refused) os::unmap(base, bytes);
    map_.store(user, radix_map::huge_mark | number);  // the node is there: it cannot fail
    return nullptr;
  }
  return base;
}

// The same where no place can be reserved: under a limit of address space old and new place together may be too much, and what the
// block grows by is not. Which address it will be is known when there is no way back, so the map's nodes have to be there before.
std::byte* huge_blocks::move_anywhere(std::uint32_t number, std::uintptr_t user, std::size_t bytes) noexcept {
  const record& r = records_.at(number);
  const std::size_t before = user - address(r.base.get());
  radix_map::spare_nodes spare;
  if (!spare.make()) return nullptr;
  map_.store(user, 0);
  void* const base = os::move_anywhere(r.base.get(), r.bytes.get(), bytes);
  map_.store(base ? address(base) + before : user, radix_map::huge_mark | number, &spare);
  return static_cast<std::byte*>(base);
}

std::byte* huge_blocks::resize(std::uint32_t number, const void* p, std::size_t n) noexcept {
  record& r = records_.at(number);
  const std::size_t before = address(p) - address(r.base.get());
  const std::size_t asked = n;
  if (n < shortest) n = shortest;
  if (n > os::most_mapped - before) return nullptr;
  const std::size_t exact = align_up(n + before, page_);
  if (const std::size_t has = r.bytes.get(); exact > has) {
    rejoin(number, roomy(exact));
    live_.fetch_add(r.bytes.get() - has, order::relaxed);
  }
  const std::size_t old = r.bytes.get();
  // What grows within its mapping, or still fills most of it, stays as it is: a block that grew has room to grow on.
  if (exact <= old && (asked >= r.asked.get() || exact > old - old / 4))
    return r.asked.set(asked), at_address(address(p));
  std::byte* base = r.base.get();
  const bool in_huge_pages = huge_pages_ && exact >= worth_huge_pages;
  budgeted_length held(budget_, old);
  if (exact > old && budget_.is_short(exact - old)) purge_cache(true);
  std::size_t bytes = exact > old ? roomy(exact) : exact;
  if ((bytes > exact && budget_.is_short(bytes - old)) || !held.reach(bytes)) bytes = exact;
  if (!held.reach(bytes)) return nullptr;
  // From the first time that it is worth it, it lies at a multiple of a huge page, so that whole ones can be had, and move.
  const bool lies_well =
      !in_huge_pages || exact < old || is_aligned(address(base), huge_page) || ends_stay_.load(order::relaxed);
  if (!lies_well || !os::resize(base, old, bytes)) {
    if (bytes <= old) return held.settle(old), nullptr;
    base = move(number, address(p), bytes, in_huge_pages);
    if (!base && bytes != exact) base = move(number, address(p), bytes = exact, in_huge_pages);
    if (!base) return held.settle(old), nullptr;
  }
  if (in_huge_pages && old < worth_huge_pages) os::advise_huge_pages(base, bytes, true);
  held.settle(bytes);
  r.bytes.set(bytes);
  r.asked.set(asked);
  live_.fetch_add(bytes - old, order::relaxed);
  return base + before;
}

std::size_t huge_blocks::purge(bool all) noexcept {
  offer_stuck(all);
  return purge_cache(all);
}

void huge_blocks::take_a_step(std::uint32_t milliseconds) noexcept {
  const std::uint64_t now = os::coarse_milliseconds();
  std::uint64_t last = last_step_.load(order::relaxed);
  if (!has_passed(milliseconds / 2 + 1, last, now)) return;
  if (last_step_.cas(last, now, order::relaxed, order::relaxed) && last != 0) purge(false);
}

void huge_blocks::fit_cache() noexcept {
  for (auto& slot : cache_) {
    const std::size_t all = cached_bytes();
    if (all <= worth_keeping(all)) return;
    const std::uint64_t v = slot.load(order::relaxed);
    if (v != 0 && uncache(slot, v)) unmap(cached::number(v));
  }
}

std::size_t huge_blocks::purge_cache(bool all) noexcept {
  std::size_t bytes = 0;
  for (auto& slot : cache_) {
    std::uint64_t v = slot.load(order::relaxed);
    if (v == 0) continue;
    if (!all && (v & cached::aged_bit) == 0) {
      slot.cas(v, v | cached::aged_bit, order::relaxed, order::relaxed);
      continue;
    }
    if (!uncache(slot, v)) continue;
    bytes += cached::pages(v) * page_;
    unmap(cached::number(v));
  }
  return bytes;
}

}  // namespace polder::mem
