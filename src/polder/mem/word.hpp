#pragma once
// word — what the span table says of one grain, in 32 bits that anyone may read at any time.
//
//     31                 10    9      8   7        0
//    ┌────────────────────┬───────┬────┬──────────┐
//    │       owner        │sampled│full│   class  │
//    └────────────────────┴───────┴────┴──────────┘
//
//   class  0: nothing begins here · 1 … 250: a span of that size class · large · metadata
//   owner  number of the LAB whose span it is, 0 for none
//   full   the owner has no free block in it
//   sampled  a block in it may be a sample of the heap profile, of which each free has to ask
//   Both bits lie among the owner's as far as the fast path can tell: a word that differs from a LAB's tag above the class
//   bits is "not simply mine"
#include <cstdint>

namespace polder::mem {

using lab_number = std::uint32_t;

struct word {
  static constexpr std::uint32_t large = 254;
  static constexpr std::uint32_t metadata = 253;
  static constexpr std::uint32_t class_mask = 0xff;
  static constexpr std::uint32_t full_bit = 0x100;
  static constexpr std::uint32_t sampled_bit = 0x200;
  static constexpr unsigned owner_shift = 10;
  static constexpr lab_number max_owner = (1u << (32 - owner_shift)) - 1;

  static constexpr std::uint32_t tag(lab_number owner) { return owner << owner_shift; }
  static constexpr lab_number owner(std::uint32_t w) { return w >> owner_shift; }
  static constexpr std::uint32_t cls(std::uint32_t w) { return w & class_mask; }
  static constexpr bool is_full(std::uint32_t w) { return (w & full_bit) != 0; }
  static constexpr bool is_sampled(std::uint32_t w) { return (w & sampled_bit) != 0; }
};

}  // namespace polder::mem
