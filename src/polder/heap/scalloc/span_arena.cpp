#include <polder/heap/scalloc/size_classes.hpp>
#include <polder/heap/scalloc/span_arena.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap::scalloc {
namespace {

// A virtual span holds at least this much; an arena that would have too few of them, a quarter of it.
constexpr std::size_t smallest_virtual_span = 256 * KiB;
constexpr std::size_t few_spans = 64;
// Fewer virtual spans than this, and they shrink; who asks for an arena of a size gets by with less.
constexpr span_number spans_wanted = 1u << 16, spans_of_an_asked_arena = 1u << 12;

std::size_t limit_now() {
  const std::size_t space = os::address_space_limit(), data = os::data_limit();
  return space < data ? space : data;
}

std::size_t floor_power_of_two(std::size_t n) { return std::size_t{1} << floor_log2(n); }

}  // namespace

bool span_arena::reserve(const setting& s) noexcept {
  setting_ = s;
  const std::size_t limit = limit_now();
  std::size_t bytes = s.bytes != 0 ? s.bytes : 32 * TiB;
  const std::size_t one_span = s.page > smallest_virtual_span ? s.page : smallest_virtual_span;
  if (bytes < one_span) bytes = one_span;
  // Of a limit the arena takes a share, whatever was asked: what it takes, blocks above 1 MiB and the program itself do
  // not have, and what it leaves, small blocks do not have.
  if (limit != SIZE_MAX) bytes = limit / 32 * 13;
  for (; bytes >= smallest_virtual_span; bytes /= 4) {
    std::size_t least =
        bytes / smallest_virtual_span < few_spans ? smallest_virtual_span / 4 : smallest_virtual_span;
    if (least < s.page) least = s.page;
    const std::size_t share = bytes / (bytes == s.bytes ? spans_of_an_asked_arena : spans_wanted);
    std::size_t size = share > least ? floor_power_of_two(share) : least;
    if (size > s.virtual_span) size = s.virtual_span;
    const std::size_t whole = align_down(bytes, size);
    start_ = static_cast<std::byte*>(os::reserve(whole + size));
    if (!start_) continue;
    reserved_ = whole + size;
    shift_ = floor_log2(size);
    mask_ = ~(std::uintptr_t{size} - 1);
    base_ = at_address(align_up(address(start_), size));
    bytes_ = whole;
    room_ = span_number(whole >> shift_);
    os::keep_in_core_dumps(start_, reserved_, false);
    if (!s.leave_huge_pages) os::advise_huge_pages(base_, bytes_, s.huge_pages);
    if (os::data_limit() != SIZE_MAX && !s.protect) open_all();
    return true;
  }
  return false;
}

// What is writable counts against RLIMIT_DATA for good. So that what large blocks find does not depend on what small ones
// had before, all of the arena counts from the start.
void span_arena::open_all() noexcept {
  if (!os::commit(base_, bytes_)) return;
  os::keep_in_core_dumps(base_, bytes_, true);
  whole_.store(room_, order::relaxed);
  opened_bytes_.store(bytes_, order::relaxed);
}

void span_arena::abandon() noexcept { os::unmap(start_, reserved_); }

bool span_arena::open_beyond(span_number n) noexcept {
  const span_number open = opened();
  if (open > n) return true;  // another was here meanwhile
  if (open >= room_) return false;
  // One span at first, a quarter of what there is later, at most 64 MiB or a span: few system calls.
  const span_number most = span_number((64 * MiB) >> shift_);
  span_number step = open / 4 + 1;
  if (step > most) step = most > 0 ? most : 1;
  if (step > room_ - open) step = room_ - open;
  std::byte* const from = base_ + (std::size_t{open} << shift_);
  span_number whole = whole_.load(order::relaxed);
  if (!setting_.protect && whole >= open) {
    for (; step != 0; step /= 2) {
      const std::size_t length = std::size_t{step} << shift_;
      if (!os::commit(from, length)) continue;
      os::keep_in_core_dumps(from, length, true);
      while (whole < open + step &&
             !whole_.cas(whole, open + step, order::release, order::relaxed)) {  // sync: span-whole
      }
      return opened_from(open, step), true;
    }
  }
  const std::size_t length = least_readable();
  if (!os::commit(from, length)) return false;
  os::keep_in_core_dumps(from, length, true);
  return opened_from(open, 1), true;
}

// Of a span that is opened in part.
std::size_t span_arena::least_readable() const noexcept { return align_up(real_spans::smallest, page()); }

// By us, or by another thread that opened the same.
void span_arena::opened_from(span_number first, span_number count) noexcept {
  std::size_t seen = std::size_t{first} << shift_;
  opened_bytes_.cas(seen, (std::size_t{first} + count) << shift_, order::release,
                    order::relaxed);  // sync: span-opened
}

span* span_arena::take(std::size_t real) noexcept {
  if (real > virtual_span()) return nullptr;
  // A limit set after the reservation binds what is taken from it, as it would bind mappings.
  const std::size_t limit = limit_now();
  if (limit != SIZE_MAX && charged_.load(order::relaxed) + real > limit) return nullptr;
  span_number n = taken_.load(order::relaxed);
  for (;;) {
    if (n >= opened()) {
      if (!open_beyond(n)) return nullptr;
      n = taken_.load(order::relaxed);
    } else if (taken_.cas(n, n + 1, order::release, order::relaxed)) {  // sync: span-opened
      break;
    }
  }
  charged_.fetch_add(real, order::relaxed);
  span& s = at(n + 1);
  s.number = n + 1;
  return &s;
}

bool span_arena::make_readable(span& s, std::size_t real) noexcept {
  if (s.number <= whole_.load(order::acquire)) return true;  // sync: span-whole
  const std::size_t had = s.readable != 0 ? s.readable : least_readable();
  const std::size_t wanted = align_up(real, page());
  if (wanted > had) {
    auto* const from = reinterpret_cast<std::byte*>(&s) + had;
    if (!os::commit(from, wanted - had)) return false;
    os::keep_in_core_dumps(from, wanted - had, true);
    grown_.fetch_add(wanted - had, order::relaxed);
  }
  s.readable = std::uint32_t(wanted > had ? wanted : had);
  return true;
}

std::size_t span_arena::discard(span& s, std::size_t from) noexcept {
  from = align_up(from, page());
  const std::size_t to = align_up(s.dirty, page());
  if (from >= to) return 0;
  if (os::discard_now(reinterpret_cast<std::byte*>(&s) + from, to - from) == os::discarded::refused) return 0;
  s.dirty = std::uint32_t(from);
  return to - from;
}

std::size_t span_arena::readable_bytes() const noexcept {
  const std::size_t opened = this->opened(), whole = whole_.load(order::relaxed);
  const std::size_t in_part = (opened > whole ? opened - whole : 0) * least_readable();
  const std::size_t bytes = (whole << shift_) + in_part + grown_.load(order::relaxed);
  return bytes < bytes_ ? bytes : bytes_;  // one may open in part, and let grow, what another opens the whole of
}

}  // namespace polder::heap::scalloc
