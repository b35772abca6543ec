#pragma once
// shelved — blocks to a LAB's shelf and from it: the free that finds its span full, and the malloc after it.
#include <cstdint>

#include <polder/heap/polder/lab.hpp>

namespace polder::heap {

// The LAB's own, in a span that is full. w: its grain's word. False: it is no such block, or does not look like one in use, or there is
// no room; or something has to be done first (core::note_kept).
POLDER_ALWAYS_INLINE bool put_on_shelf(lab& l, void* p, std::uint32_t w) noexcept {
  const unsigned c = mem::word::cls(w);
  auto* const b = static_cast<mem::block*>(p);
  if (!shelf::suits(c) || w != (mem::word::tag(l.number) | mem::word::full_bit | c) || !l.shelved.has_room() ||
      l.swept.load(order::relaxed) != 0 || !is_place(c, p) || links::fit(b, l.secret))
    return false;
  --l.home[c];
  l.shelved.put(c, b, l.secret);
  return true;
}

// The first block of class c on the shelf, to be handed out. Null: it was written to.
POLDER_ALWAYS_INLINE mem::block* take_from_shelf(lab& l, unsigned c) noexcept {
  if (!links::fit(l.shelved.first(c), l.secret)) [[unlikely]]
    return nullptr;
  ++l.home[c];
  mem::block* const b = l.shelved.take(c, l.secret);
  b->wipe();
  return b;
}

}  // namespace polder::heap
