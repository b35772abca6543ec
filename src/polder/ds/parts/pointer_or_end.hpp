#pragma once
// pointer_or_end — a pointer, or one of the nulls, which are numbered: who finds the same null twice knows that nothing
// was there in between, if each null that is written has a number of its own.
#include <cstdint>

#include <polder/base/check.hpp>

namespace polder::ds {

template <class Node>
class pointer_or_end {  // an address, which is even; or a number and a one at the bottom
 public:
  constexpr pointer_or_end() noexcept = default;  // end 0
  explicit pointer_or_end(Node* n) noexcept : bits_(reinterpret_cast<std::uintptr_t>(n)) {
    POLDER_CHECK(1, n != nullptr && (bits_ & 1) == 0);
  }

  bool is_end() const noexcept { return (bits_ & 1) != 0; }
  Node* node() const noexcept { return is_end() ? nullptr : reinterpret_cast<Node*>(bits_); }
  std::uint64_t number() const noexcept { return bits_ >> 1; }  // of an end
  pointer_or_end next_end() const noexcept { return pointer_or_end(bits_ + 2); }

  friend bool operator==(pointer_or_end, pointer_or_end) noexcept = default;

 private:
  explicit constexpr pointer_or_end(std::uintptr_t bits) noexcept : bits_(bits) {}
  std::uintptr_t bits_ = 1;
};

// What a reclaimer protects when it protects such a word (smr/reclaimer.hpp).
template <class Node>
const void* address_of(pointer_or_end<Node> word) noexcept {
  return word.node();
}

}  // namespace polder::ds
