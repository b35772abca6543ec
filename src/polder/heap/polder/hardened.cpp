// core: what a hardened heap does besides (docs/how-to/hardening.md).
//
// A free block is zero behind its key and link from the moment it is freed, and until it is handed out again: what is written
// to it meanwhile is noticed when it leaves the quarantine, and when it is handed out.

#include <polder/heap/polder/core.hpp>
#include <polder/mem/misuse.hpp>

namespace polder::heap {

static_assert(sizeof(quarantine) <= mem::grain_size);

void* core::allocate_hardened(lab& l, std::size_t n) noexcept {
  if (--l.until_guarded == 0) {
    l.until_guarded = guarded_after(l);
    if (void* const p = allocate_guarded(l, n)) return p;
  }
  if (n <= mem::size_class::stepped::largest) return allocate_untouched(l, mem::size_class::stepped::of(n));
  return allocate_large(l, n, min_alignment).p;
}

// Null: none is to be had.
void* core::allocate_guarded(lab& l, std::size_t n) noexcept {
  if (!guarded_.takes(n) || !budget_.set_aside(arena_.page())) return nullptr;
  void* const p = guarded_.take(n, l.random);
  if (p == nullptr) return budget_.give(arena_.page()), nullptr;
  budget_.had();
  return p;
}

// All but large blocks are zero anyway.
void* core::allocate_zeroed_hardened(lab& l, std::size_t n) noexcept {
  return n <= mem::size_class::stepped::largest ? allocate_hardened(l, n) : allocate_large_zeroed(l, n);
}

// How many allocations of the LAB until one is guarded: on average one in guard_rate, and nobody knows which. 0: none, and it is asked
// again 2^32 later.
std::uint32_t core::guarded_after(lab& l) const noexcept {
  return options_.guard_rate == 0 ? 0 : 1 + l.random.below(2 * options_.guard_rate - 1);
}

// A block of which every byte is zero.
void* core::allocate_untouched(lab& l, unsigned c) noexcept {
  if ((++l.beyond & 63) == 0) decay();
  mem::span& s = *l.hot[c];
  auto* const b = static_cast<mem::block*>(s.has_free() ? pop(l, s) : refill_at_random(l, c));
  if (b == nullptr) return nullptr;
  b->link = nullptr;
  if (!is_untouched(b, classes::block_size[c])) report_corrupted(b);
  return b;
}

// As extend, in an order that is drawn: neighbours in time are not neighbours in memory.
bool core::extend_at_random(lab& l, mem::span& s) noexcept {
  if (s.bumped >= s.usable) return false;
  constexpr std::uint32_t least = 16, most = 256;
  std::byte* const start = arena_.address_of(number_of(s)) + s.bumped;
  const std::uint32_t size = s.block_size;
  const std::uint32_t left = (s.usable - s.bumped) / size;
  std::uint32_t n = 4096 / size;
  if (n < least) n = least;
  if (n > most) n = most;
  if (n > left) n = left;
  if (!s.zero) __builtin_memset(start, 0, std::size_t{n} * size);
  std::uint8_t places[most];
  for (std::uint32_t i = 0; i != n; ++i) {
    const std::uint32_t j = l.random.below(i + 1);
    places[i] = places[j];
    places[j] = std::uint8_t(i);
  }
  for (std::uint32_t i = 0; i != n; ++i) {
    auto* const b = reinterpret_cast<mem::block*>(start + std::size_t{places[i]} * size);
    links::set(b, s.free, l.secret);
    s.free = b;
  }
  s.bumped += n * size;
  l.handed_out += n * size;
  s.handed = mem::scaled(s.multiplier, s.bumped);
  return true;
}

// A block of a class, found to be a live one, is freed: it is no more than zeroes, and nobody has it for a while.
void core::confine(lab& l, std::uint32_t w, void* p) noexcept {
  auto* const b = static_cast<mem::block*>(p);
  const std::uint32_t bytes = classes::block_size[mem::word::cls(w)];
  __builtin_memset(p, 0, bytes);
  links::set(b, nullptr, l.secret);  // freed already, to whoever frees it again
  note_kept(l);
  const auto go = [&](mem::block* out) { let_go(l, out); };
  if (quarantine* const q = quarantine_of(l)) q->admit(b, bytes, l.random, go);
  else go(b);
}

// A grain of the LAB's own, for as long as there are LABs. Null: no memory.
quarantine* core::quarantine_of(lab& l) noexcept {
  if (l.held) [[likely]]
    return l.held;
  const mem::grain_pool::run r = grains_.take(1, l.trail, l.site.load(order::relaxed));
  if (r.first == 0) return nullptr;
  std::byte* const p = arena_.address_of(r.first);
  if (!r.zero) __builtin_memset(p, 0, sizeof(quarantine));
  arena_.words()[r.first].store(mem::word::metadata, order::relaxed);
  return l.held = reinterpret_cast<quarantine*>(p);
}

// The free itself, at last.
void core::let_go(lab& l, mem::block* b) noexcept {
  const mem::grain g = arena_.find(address(b));
  const std::uint32_t w = arena_.words()[g].load(order::acquire);  // sync: span-made
  if (!links::fit(b, l.secret) || !is_untouched(b, classes::block_size[mem::word::cls(w)])) report_corrupted(b);
  free_alone(l, g, w, b);
}

void core::release_confined(lab& l) noexcept {
  l.held->empty([&](mem::block* out) { let_go(l, out); });
}

// Memory that is the caller's and nobody's blocks any more. What is known of it then, where `how` was known before.
core::left core::emptied_at_once(std::byte* p, std::size_t bytes, left how) noexcept {
  if (how == left::zero) return how;
  grains_.split_huge_pages(arena_.find(address(p)), unsigned(bytes >> mem::grain_shift));
  if (mem::grain_pool::discard(p, bytes, false, p) == os::discarded::zeroed) return left::zero;
  if (options_.hardened) __builtin_memset(p, 0, bytes);
  return how;
}

}  // namespace polder::heap
