#pragma once
// glimpsed — a word that one thread at a time writes, plainly, and at which others glimpse: for figures, never for a decision.
//
//   progress   wait-free
//   in malloc  yes
//   order      none: what others see may be late, and two words may disagree
//   TSan       sees the owner's writes as relaxed stores. Elsewhere they are plain, so that `++` is one instruction
//
// Its owner uses it as if it were the T. Zero-filled memory is a T of zeroes.
#include <type_traits>

#include <polder/base/config.hpp>
#include <polder/base/sanitizers.hpp>

namespace polder {

template <class T>
class glimpsed {
 public:
  glimpsed() noexcept = default;
  constexpr explicit glimpsed(T v) noexcept : value_(v) {}
  glimpsed(const glimpsed& other) noexcept : value_(other.value_) {}
  POLDER_ALWAYS_INLINE glimpsed& operator=(const glimpsed& other) noexcept { return *this = other.value_; }
  POLDER_ALWAYS_INLINE glimpsed& operator=(T v) noexcept {
#if POLDER_TSAN
    __atomic_store(&value_, &v, __ATOMIC_RELAXED);
#else
    value_ = v;
#endif
    return *this;
  }

  // The owner's.
  POLDER_ALWAYS_INLINE constexpr operator T() const noexcept { return value_; }
  POLDER_ALWAYS_INLINE T operator->() const noexcept
    requires std::is_pointer_v<T>
  {
    return value_;
  }
  POLDER_ALWAYS_INLINE glimpsed& operator+=(T more) noexcept { return *this = T(value_ + more); }
  POLDER_ALWAYS_INLINE glimpsed& operator-=(T less) noexcept { return *this = T(value_ - less); }
  POLDER_ALWAYS_INLINE glimpsed& operator|=(T more) noexcept { return *this = T(value_ | more); }
  POLDER_ALWAYS_INLINE glimpsed& operator&=(T mask) noexcept { return *this = T(value_ & mask); }
  POLDER_ALWAYS_INLINE glimpsed& operator++() noexcept { return *this += 1; }
  POLDER_ALWAYS_INLINE glimpsed& operator--() noexcept { return *this -= 1; }

  // Anybody's.
  POLDER_ALWAYS_INLINE T glimpse() const noexcept {
    T seen;
    __atomic_load(&value_, &seen, __ATOMIC_RELAXED);  // unlike __atomic_load_n, of an enumeration too in clang
    return seen;
  }

 private:
  T value_;
};

}  // namespace polder
