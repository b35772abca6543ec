#pragma once
// word — what the span table says of one grain, in 32 bits that anyone may read at any time.
//
//     31                 10    9      8    7    6       0
//    ┌────────────────────┬───────┬────┬────┬──────────┐
//    │       owner        │sampled│full│thin│   class  │
//    └────────────────────┴───────┴────┴────┴──────────┘
//
//   class  0: nothing begins here · 1 … 120: a span of that size class, or, without an owner, a free grain that is a whole list of its
//          blocks (grain_pool) · large · kept: a run that was one, and is a LAB's for its next · metadata
//   thin   pages of it were given back (span::returned): who frees another's block there looks whether it lies on one
//   owner  number of the LAB whose span it is, 0 for none
//   full   the owner has no free block in it
//   sampled  a block in it may be a sample of the heap profile, of which each free has to ask
//   The last two lie among the owner's as far as the fast path can tell: a word that differs from a LAB's tag above `below_tag`
//   is "not simply mine"
#include <cstdint>

namespace polder::mem {

using lab_number = std::uint32_t;

struct word {
  static constexpr std::uint32_t kept = 127;
  static constexpr std::uint32_t large = 126;
  static constexpr std::uint32_t metadata = 125;
  static constexpr std::uint32_t class_mask = 0x7f;
  static constexpr std::uint32_t thin_bit = 0x80;
  static constexpr std::uint32_t below_tag = class_mask | thin_bit;
  static constexpr std::uint32_t full_bit = 0x100;
  static constexpr std::uint32_t sampled_bit = 0x200;
  static constexpr unsigned owner_shift = 10;
  static constexpr lab_number max_owner = (1u << (32 - owner_shift)) - 1;

  static constexpr std::uint32_t tag(lab_number owner) { return owner << owner_shift; }
  static constexpr lab_number owner(std::uint32_t w) { return w >> owner_shift; }
  static constexpr std::uint32_t cls(std::uint32_t w) { return w & class_mask; }
  // Live or kept: its record tells how long it is (large_run).
  static constexpr bool is_run(std::uint32_t w) { return cls(w) == large || cls(w) == kept; }
  static constexpr bool is_thin(std::uint32_t w) { return (w & thin_bit) != 0; }
  static constexpr bool is_full(std::uint32_t w) { return (w & full_bit) != 0; }
  static constexpr bool is_sampled(std::uint32_t w) { return (w & sampled_bit) != 0; }
};

}  // namespace polder::mem
