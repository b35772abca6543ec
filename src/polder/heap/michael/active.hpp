#pragma once
// active — a heap's Active word: the descriptor of its active superblock, and how many of its blocks may be reserved.
//
//   paper      Michael, PLDI 2004, figure 3 and section 3.2.1: ptr:58, credits:6
//   progress   a value; the word that holds it is moved by CAS alone (superblock_heap.hpp)
//   in malloc  yes
//   invariant  not null: credits() + 1 blocks of the superblock are free and promised to whoever takes them from here
//
// Descriptors lie at multiples of 64 bytes, so the low six bits of their address are free for the credits.
#include <cstdint>

namespace polder::heap::michael {

template <class Descriptor>
class active_word {
 public:
  static constexpr unsigned max_credits = 64;  // MAXCREDITS: credits() + 1 at most

  constexpr active_word() = default;
  // `promised` blocks, 1 … max_credits.
  active_word(Descriptor* d, unsigned promised) : bits_{reinterpret_cast<std::uint64_t>(d) | (promised - 1)} {
    static_assert(alignof(Descriptor) >= 64);
  }

  explicit operator bool() const { return bits_ != 0; }
  Descriptor* descriptor() const { return reinterpret_cast<Descriptor*>(bits_ & ~std::uint64_t{63}); }
  unsigned credits() const { return unsigned(bits_ & 63); }

  // After one reservation; null after the last.
  active_word reserved() const {
    active_word after;
    if (credits() != 0) after.bits_ = bits_ - 1;
    return after;
  }

 private:
  std::uint64_t bits_ = 0;
};

}  // namespace polder::heap::michael
