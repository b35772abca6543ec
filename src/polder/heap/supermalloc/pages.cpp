#include <polder/heap/supermalloc/pages.hpp>

#include <polder/base/check.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap::supermalloc {
namespace {

using classes = size_classes;

// After so many slices of shared chunks a class gets chunks of its own.
constexpr std::uint32_t slices_first = 8;

unsigned bumped_blocks(const folio& f, unsigned c) {
  return f.bumped.load(order::relaxed) / classes::block_size[c];
}

}  // namespace

mem::block* page_keeper::take_one(pages& p, unsigned c, unsigned home) noexcept {
  if (!p.adrift.empty()) return p.adrift.pop(secret_);
  const folio_number n = open(p, c, home);
  mem::block* got = nullptr;
  if (n != 0) take_from(p, c, n, 1, [&](mem::block* b) { (got = b)->wipe(); });
  return got;
}

void page_keeper::take(pages& p, unsigned c, unsigned home, std::uint32_t n, block_list& into) noexcept {
  while (n != 0) {
    if (!p.adrift.empty()) {
      into.push(p.adrift.pop(secret_), secret_);
      --n;
      continue;
    }
    const folio_number from = open(p, c, home);
    if (from == 0) return;
    n -= take_from(p, c, from, n, [&](mem::block* b) { into.push(b, secret_); });
  }
}

// A folio with a free block; 0: the system refuses.
folio_number page_keeper::open(pages& p, unsigned c, unsigned home) noexcept {
  if (const folio_number n = p.partial.fullest()) return n;
  if (p.empty != 0) return p.empty;
  if (p.clean != 0) return p.clean;
  return open_fresh(p, c, home);
}

// Puts a folio that was never used onto the clean list.
folio_number page_keeper::open_fresh(pages& p, unsigned c, unsigned home) noexcept {
  if (p.next_fresh == p.end_fresh) {
    const bool fits_a_slice = classes::folio_bytes(c) <= slice_bytes;
    region r = fits_a_slice && p.slices < slices_first ? source_.take_slice(c, home) : source_.take_chunk(c, home);
    if (!r.of && fits_a_slice) r = source_.take_slice(c, home);  // there may be one where there is no chunk
    if (!r.of) return 0;
    p.slices += r.of->shared();
    p.fresh = r.of;
    p.next_fresh = std::uint16_t(r.first);
    p.end_fresh = std::uint16_t(r.end);
  }
  const folio_number n = p.fresh->number_of(p.next_fresh++);
  fullest_first::push(p.clean, n, folios());
  return n;
}

template <class Each>
std::uint32_t page_keeper::take_from(pages& p, unsigned c, folio_number n, std::uint32_t wanted,
                                     Each&& each) noexcept {
  folio& f = source_.folio_of(n);
  const unsigned capacity = classes::blocks_per_folio(c);
  const unsigned left = capacity - f.used;
  const unsigned got = wanted < left ? wanted : left;
  std::byte* const base = source_.chunk_of(n).address_of(n % folios_per_chunk, c);
  set_used(p, c, n, f.used + got);
  std::uint32_t bumped = f.bumped.load(order::relaxed);
  for (unsigned i = 0; i < got; ++i) {
    mem::block* b = f.free;
    if (b) {
      if (!b->looks_free(secret_)) mem::report(mem::misuse::corrupted, b);
      f.free = b->link;
    } else {
      b = reinterpret_cast<mem::block*>(base + bumped);
      bumped += classes::block_size[c];
      f.bumped.store(bumped, order::relaxed);
    }
    each(b);
  }
  p.taken += got;
  return got;
}

void page_keeper::give(pages& p, unsigned c, chunk& k, mem::block* b) noexcept {
  const auto offset = std::uint32_t(address(b) - address(k.base));
  if ((k.forsaken.load(order::relaxed) >> offset / slice_bytes & 1) != 0) {
    p.adrift.push(b, secret_);
    return;
  }
  const unsigned place = place_of(k, offset, c).folio;
  folio& f = k.folios[place];
  if (!b->looks_free(secret_)) mem::report(mem::misuse::corrupted, b);
  b->set_link(f.free, secret_);
  f.free = b;
  ++p.given;
  const folio_number n = k.number_of(place);
  set_used(p, c, n, f.used - 1u);
  if (f.state == folio_state::empty && p.empties * classes::folio_bytes(c) > keep_) discard(p, c, n);
}

// The only place where a folio's state changes, but for discard().
void page_keeper::set_used(pages& p, unsigned c, folio_number n, unsigned used) noexcept {
  folio& f = source_.folio_of(n);
  chunk& k = source_.chunk_of(n);
  const unsigned capacity = classes::blocks_per_folio(c);
  POLDER_CHECK(1, used <= capacity && used != f.used);
  switch (f.state) {
    case folio_state::clean:
      fullest_first::unlink(p.clean, n, folios());
      p.held += classes::folio_bytes(c);
      break;
    case folio_state::empty:
      fullest_first::unlink(p.empty, n, folios());
      --p.empties;
      break;
    case folio_state::partial: p.partial.remove(n, capacity - f.used, folios()); break;
    case folio_state::full: break;
  }
  if (f.used == 0) {
    p.busy += classes::folio_bytes(c);
    if (!k.shared()) ++k.busy;
  }
  f.used = std::uint16_t(used);
  const folio_state to = used == 0          ? folio_state::empty
                         : used == capacity ? folio_state::full
                                            : folio_state::partial;
  if (f.state != to) f.become(to);
  if (to == folio_state::partial) p.partial.add(n, capacity - used, folios());
  if (to != folio_state::empty) return;
  fullest_first::push(p.empty, n, folios());
  ++p.empties;
  p.busy -= classes::folio_bytes(c);
  if (!k.shared()) --k.busy;
}

// An empty folio becomes clean. False: the kernel refuses, or its pages are not only its own.
bool page_keeper::discard(pages& p, unsigned c, folio_number n) noexcept {
  folio& f = source_.folio_of(n);
  std::byte* const at = source_.chunk_of(n).address_of(n % folios_per_chunk, c);
  const std::size_t bytes = classes::folio_bytes(c);
  if (page_ > folio_page && (!is_aligned(address(at), page_) || !is_aligned(bytes, page_))) return false;
  const os::discarded done = lazily_ ? os::discard_lazily(at, bytes) : os::discard_now(at, bytes);
  if (done == os::discarded::refused) return false;
  fullest_first::unlink(p.empty, n, folios());
  --p.empties;
  f.free = nullptr;
  f.bumped.store(0, order::relaxed);
  f.become(folio_state::clean);
  fullest_first::push(p.clean, n, folios());
  p.held -= bytes;
  ++p.discards;
  return true;
}

std::size_t page_keeper::trim(pages& p, unsigned c) noexcept {
  std::size_t bytes = give_regions(p, c);
  for (folio_number n = p.empty; n != 0;) {
    const folio_number next = source_.folio_of(n).next;
    if (discard(p, c, n)) bytes += classes::folio_bytes(c);
    n = next;
  }
  return bytes;
}

// Chunks and slices none of whose blocks is used. Each of their folios is in the list of empty ones, in that of clean
// ones, or was never used. A region that goes takes its folios out of both lists; the last folio whose region stays is
// where the walk goes on.
std::size_t page_keeper::give_regions(pages& p, unsigned c) noexcept {
  std::size_t bytes = 0;
  for (folio_number* const list : {&p.empty, &p.clean}) {
    folio_number stays = 0;
    for (folio_number n = *list; n != 0; n = stays != 0 ? source_.folio_of(stays).next : *list) {
      ++p.looks;
      switch (give_region(p, c, n, bytes)) {
        case giving::given: break;
        case giving::in_use: stays = n; break;
        case giving::refused: return bytes;
      }
    }
  }
  return bytes;
}

// The region of folio n.
page_keeper::giving page_keeper::give_region(pages& p, unsigned c, folio_number n, std::size_t& bytes) noexcept {
  chunk& k = source_.chunk_of(n);
  const unsigned slice = n % folios_per_chunk / folios_per_slice;
  const unsigned first = k.shared() ? slice * folios_per_slice : 0;
  const bool shared = k.shared();
  const auto many = unsigned((shared ? slice_bytes : chunk_bytes) / classes::folio_bytes(c));
  const bool fresh = p.fresh == &k && p.end_fresh == first + many;
  const unsigned end = fresh ? p.next_fresh : first + many;
  if (k.busy != 0 || k.forsaken.load(order::relaxed) != 0) return giving::in_use;
  if (shared)
    for (unsigned place = first; place < end; ++place)
      if (k.folios[place].used != 0) return giving::in_use;

  const auto each = [&](auto&& f) {
    for (unsigned place = first; place < end; ++place) {
      const bool empty = k.folios[place].state == folio_state::empty;
      f(empty ? p.empty : p.clean, k.number_of(place), empty);
    }
  };
  std::uint32_t empties = 0;
  each([&](folio_number& head, folio_number one, bool empty) {
    fullest_first::unlink(head, one, folios());
    empties += empty;
  });
  if (!(shared ? source_.give_slice(k, slice) : source_.give_chunk(k))) {
    each([&](folio_number& head, folio_number one, bool) { fullest_first::push(head, one, folios()); });
    return giving::refused;
  }
  if (fresh) p.fresh = nullptr, p.next_fresh = p.end_fresh = 0;
  p.slices -= shared;
  p.empties -= empties;
  p.held -= empties * classes::folio_bytes(c);
  bytes += empties * classes::folio_bytes(c);
  return giving::given;
}

void page_keeper::forsake(pages& p, unsigned c, unsigned home) noexcept {
  source_.for_each([&](chunk& k) {
    if (k.home != home) return;
    std::uint32_t slices = 0;
    for (unsigned s = 0; s < slices_per_chunk; ++s)
      if (k.classes.known(s) == c) slices |= 1u << s;
    k.forsaken.store(k.forsaken.load(order::relaxed) | slices, order::relaxed);
  });
  const std::size_t held = p.held;
  const std::size_t busy = p.busy;
  p = {};
  p.held = held;
  p.busy = busy;
  p.slices = slices_first;
}

void page_keeper::validate(const pages& p, unsigned c, unsigned home) const noexcept {
  const unsigned capacity = classes::blocks_per_folio(c);
  std::size_t listed = 0, empties = 0, held = 0, busy = 0;
  std::uint64_t used = 0;
  p.partial.for_each(folios(), [&](folio_number n, unsigned left) {
    const folio& f = source_.folio_of(n);
    must(f.state == folio_state::partial && capacity - f.used == left);
    must(p.partial.has(left));
    ++listed;
  });
  for (folio_number n = p.empty; n != 0; n = source_.folio_of(n).next, ++empties)
    must(source_.folio_of(n).state == folio_state::empty);
  must(empties == p.empties);
  for (folio_number n = p.clean; n != 0; n = source_.folio_of(n).next)
    must(source_.folio_of(n).state == folio_state::clean);
  bool forsaken = false;
  source_.for_each([&](const chunk& k) {
    forsaken |= k.forsaken.load(order::relaxed) != 0;
    if (k.home != home || k.forsaken.load(order::relaxed) != 0) return;
    std::size_t busy_here = 0;
    for (unsigned place = 0; place < folios_per_chunk; ++place) {
      const unsigned slice = place / folios_per_slice;
      if (k.classes.known(k.shared() ? slice : 0) != c) continue;
      const folio& f = k.folios[place];
      const unsigned bumped = bumped_blocks(f, c);
      must(f.used <= bumped && bumped <= capacity);
      unsigned back = 0;
      for (const mem::block* b = f.free; b != nullptr; b = b->link, ++back)
        must(b->looks_free(secret_) && back < capacity);
      must(f.used + back == bumped);
      must((f.state == folio_state::full) == (f.used == capacity));
      must((f.state == folio_state::partial) == (f.used != 0 && f.used != capacity));
      must(f.state != folio_state::clean || bumped == 0);
      used += f.used;
      listed -= f.state == folio_state::partial;
      held += f.state != folio_state::clean ? classes::folio_bytes(c) : 0;
      busy += f.used != 0 ? classes::folio_bytes(c) : 0;
      busy_here += f.used != 0;
    }
    must(k.shared() || k.classes.known(0) != c || busy_here == k.busy);
  });
  if (forsaken) return;
  must(listed == 0 && p.taken - p.given == used && held == p.held && busy == p.busy);
}

}  // namespace polder::heap::supermalloc
