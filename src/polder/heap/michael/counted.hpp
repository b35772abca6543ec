#pragma once
// counted — a number, a mark, and how often the word was changed: the links of the partial lists.
//
//   paper      the counted pointers of Michael and Scott, PODC 1996; the mark of Harris, DISC 2001
//   in malloc  yes; a value
//
// The count has 32 bits: a CAS is deceived only if a word was changed 2^32 times, back to the same number, between a read
// and the CAS that relies on it.
#include <cstdint>

namespace polder::heap::michael {

class counted {
 public:
  constexpr counted() = default;
  constexpr counted(std::uint32_t number, std::uint32_t count, bool marked = false)
      : bits_{std::uint64_t{count} << 32 | std::uint64_t{marked} << 31 | number} {}

  constexpr std::uint32_t number() const { return std::uint32_t(bits_) & ~mark; }  // 0: none
  constexpr bool marked() const { return (bits_ & mark) != 0; }
  constexpr std::uint32_t count() const { return std::uint32_t(bits_ >> 32); }

  // The word that follows this one in its place.
  constexpr counted then(std::uint32_t number, bool marked = false) const { return {number, count() + 1, marked}; }

  friend constexpr bool operator==(const counted&, const counted&) = default;

 private:
  static constexpr std::uint32_t mark = 1u << 31;
  std::uint64_t bits_ = 0;
};

}  // namespace polder::heap::michael
