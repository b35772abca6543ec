#pragma once
// marked_pointer — a pointer and a few marks in one word: the marks are the low bits that alignment leaves unused.
#include <cstdint>

#include <polder/base/check.hpp>

namespace polder {

template <class T, unsigned Bits>
class marked_pointer {
 public:
  static constexpr std::uintptr_t all_marks = (std::uintptr_t{1} << Bits) - 1;

  constexpr marked_pointer() noexcept = default;  // null, without marks
  explicit marked_pointer(T* p, std::uintptr_t marks = 0) noexcept
      : bits_(reinterpret_cast<std::uintptr_t>(p) | marks) {
    POLDER_CHECK(1, (reinterpret_cast<std::uintptr_t>(p) & all_marks) == 0 && marks <= all_marks);
  }

  T* pointer() const noexcept { return reinterpret_cast<T*>(bits_ & ~all_marks); }
  std::uintptr_t marks() const noexcept { return bits_ & all_marks; }
  bool has(std::uintptr_t marks) const noexcept { return (bits_ & marks) != 0; }
  marked_pointer with(std::uintptr_t marks) const noexcept { return marked_pointer(bits_ | marks); }
  marked_pointer without(std::uintptr_t marks) const noexcept { return marked_pointer(bits_ & ~marks); }

  friend bool operator==(marked_pointer, marked_pointer) noexcept = default;

 private:
  explicit constexpr marked_pointer(std::uintptr_t bits) noexcept : bits_(bits) {}

  std::uintptr_t bits_ = 0;
};

// What a reclaimer protects when it protects such a word (smr/reclaimer.hpp).
template <class T, unsigned Bits>
const void* address_of(marked_pointer<T, Bits> word) noexcept {
  return word.pointer();
}

}  // namespace polder
