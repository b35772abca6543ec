#pragma once
// slot_map — which of a guard's slots a number means: two numbers may mean one slot, which is how one holds what another
// does without a word that moves from slot to slot under the eyes of whoever scans.
//
//   invariant  numbers are not more than slots, so whenever two mean the same slot, one is free
#include <cstdint>

namespace polder::smr {

template <unsigned Slots>
class slot_map {
 public:
  static_assert(Slots != 0 && Slots <= 64);

  constexpr slot_map() noexcept {
    for (unsigned i = 0; i != Slots; ++i) of_[i] = std::uint8_t(i);
  }

  [[gnu::always_inline]] unsigned of(unsigned number) const noexcept { return of_[number]; }

  // The slot of a number that is about to be written: if others mean it, they keep it and the number gets a free one.
  [[gnu::always_inline]] unsigned alone(unsigned number) noexcept {
    if (shared_) return find_alone(number);
    return of_[number];
  }

  // `number` means what `other` does.
  [[gnu::always_inline]] void share(unsigned number, unsigned other) noexcept {
    of_[number] = of_[other];
    shared_ = true;
  }

 private:
  [[gnu::always_inline]] unsigned find_alone(unsigned number) noexcept {
    std::uint64_t used = 0;
    for (unsigned i = 0; i != Slots; ++i) {
      if (i != number) used |= std::uint64_t{1} << of_[i];
    }
    if ((used >> of_[number] & 1) != 0) of_[number] = std::uint8_t(__builtin_ctzll(~used));
    return of_[number];
  }

  std::uint8_t of_[Slots];
  bool shared_ = false;  // two numbers may mean one slot
};

// One number, one slot.
template <>
class slot_map<1> {
 public:
  static constexpr unsigned of(unsigned) noexcept { return 0; }
  static constexpr unsigned alone(unsigned) noexcept { return 0; }
  static constexpr void share(unsigned, unsigned) noexcept {}
};

}  // namespace polder::smr
