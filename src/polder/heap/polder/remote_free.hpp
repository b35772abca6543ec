#pragma once
// remote_free — the free of another LAB's block, where it is one more in a list of the outbox: it calls nothing, so that who frees
// need keep nothing for afterwards.
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/heap/polder/lab.hpp>

namespace polder::heap {

enum class joined {
  none,  // something has to be asked first, or it is the first for its owner
  list,
  full_list,  // and something is due to be sent
};

// w: its grain's word, as new as the block is, whoever brought that here. Who has an owner is a span, so its class is one.
POLDER_ALWAYS_INLINE joined join_list(lab& l, void* p, std::uint32_t w) noexcept {
  constexpr std::uint32_t asks_for_more = mem::word::sampled_bit | mem::word::thin_bit;
  const mem::lab_number owner = mem::word::owner(w);
  if ((w & asks_for_more) != 0 || owner == 0 || !l.out.has(owner)) return joined::none;
  const unsigned c = mem::word::cls(w);
  auto* const b = static_cast<mem::block*>(p);
  if (!is_place(c, p) || links::fit(b, l.secret)) [[unlikely]]
    return joined::none;
  ++l.sent[c];
  return l.out.append(owner, b, tallies[c], l.secret) ? joined::full_list : joined::list;
}

}  // namespace polder::heap
