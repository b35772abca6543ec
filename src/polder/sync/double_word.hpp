#pragma once
// double_word — two words side by side that are compared and replaced as one.
//
//   progress   wait-free on x86-64 (cmpxchg16b) and on AArch64 with LSE (casp); lock-free with ldxp and stxp, and under TSan
//   in malloc  yes
//
// Each half can be read by itself, which costs a load. The two readings belong together only if a cas() that expects them
// succeeds. load() reads both at once by such a cas(), so it writes: not for read-only memory, and dear among readers.
//
// The first half can also be changed by itself, whatever the second one is: add_first, or_first, cas_first.
//
// The compilers' own 16-byte __atomic calls need libatomic; what stands here does not.
//   x86-64     the instruction itself. All cas() are full barriers, halves are read by plain loads. A locked instruction on
//              half of it and one on the whole exclude each other, as both take the cache line
//   AArch64    __sync, which is casp where the target has it; else libgcc's routine, which asks the processor. A full
//              barrier. An exclusive store to the whole fails if half of it was written
//   TSan       sees no instruction written by hand, so it gets __sync, which it replaces by its own, under one lock. That is
//              sound because nothing but cas() writes: there, a half is changed by it too. It keeps what an edge orders at
//              the address of the first half: an acquiring load of the second half reads the first one too, for its edge
//   model      one word of Relacy's: sync/double_word_model.hpp

#if defined(POLDER_MODEL)
#include <polder/sync/double_word_model.hpp>
#else
#include <cstdint>

#include <polder/base/sanitizers.hpp>
#include <polder/sync/atomic.hpp>

namespace polder {

struct double_value {
  std::uint64_t first = 0, second = 0;
  friend bool operator==(const double_value&, const double_value&) = default;
};

class double_word {
 public:
  constexpr double_word() noexcept = default;
  constexpr explicit double_word(double_value v) noexcept : first_(v.first), second_(v.second) {}
  double_word(const double_word&) = delete;
  double_word& operator=(const double_word&) = delete;

  [[gnu::always_inline]] std::uint64_t first(order o) const noexcept { return half(first_, o); }
  [[gnu::always_inline]] std::uint64_t second(order o) const noexcept {
    const std::uint64_t seen = half(second_, o);
#if POLDER_TSAN
    if (o != order::relaxed) half(first_, o);
#endif
    return seen;
  }

  double_value load(order o) noexcept {
    double_value seen{first(order::relaxed), second(order::relaxed)};
    while (!cas(seen, seen, o, o == order::release ? order::relaxed : o)) {
    }
    return seen;
  }

  // Strong; on failure `expected` holds what was seen. At least as ordered as asked for: see above.
  [[gnu::always_inline]] bool cas(double_value& expected, double_value desired, order, order) noexcept {
#if defined(__x86_64__) && !POLDER_TSAN
    bool swapped;
    asm volatile("lock cmpxchg16b %[word]"
                 : "=@ccz"(swapped), [word] "+m"(*reinterpret_cast<whole*>(this)), "+a"(expected.first),
                   "+d"(expected.second)
                 : "b"(desired.first), "c"(desired.second)
                 : "memory");
    return swapped;
#else
    const whole before = joined(expected);
    const whole seen = __sync_val_compare_and_swap(reinterpret_cast<whole*>(this), before, joined(desired));
    expected = {std::uint64_t(seen), std::uint64_t(seen >> 64)};
    return seen == before;
#endif
  }

  // What the first half was.
  [[gnu::always_inline]] std::uint64_t add_first(std::uint64_t n, order o) noexcept {
#if POLDER_TSAN
    return replace_first([n](std::uint64_t was) { return was + n; }, o);
#else
    return __atomic_fetch_add(&first_, n, int(o));
#endif
  }
  [[gnu::always_inline]] void or_first(std::uint64_t bits, order o) noexcept {
#if POLDER_TSAN
    replace_first([bits](std::uint64_t was) { return was | bits; }, o);
#else
    __atomic_fetch_or(&first_, bits, int(o));
#endif
  }
  // Strong; on failure `expected` holds what was seen.
  [[gnu::always_inline]] bool cas_first(std::uint64_t& expected, std::uint64_t desired, order success,
                                        [[maybe_unused]] order failure) noexcept {
#if POLDER_TSAN
    double_value now{expected, second(order::relaxed)};
    while (!cas(now, {desired, now.second}, success, failure)) {
      if (now.first != expected) return expected = now.first, false;
    }
    return true;
#else
    return __atomic_compare_exchange_n(&first_, &expected, desired, false, int(success), int(failure));
#endif
  }

 private:
#if POLDER_TSAN
  template <class F>
  std::uint64_t replace_first(F next, order o) noexcept {
    double_value now{first(order::relaxed), second(order::relaxed)};
    while (!cas(now, {next(now.first), now.second}, o, order::relaxed)) {
    }
    return now.first;
  }
#endif
  __extension__ typedef unsigned __int128 whole __attribute__((may_alias));
  static whole joined(double_value v) noexcept { return whole(v.second) << 64 | v.first; }
  [[gnu::always_inline]] static std::uint64_t half(const std::uint64_t& h, order o) noexcept {
    return __atomic_load_n(&h, int(o));
  }

  alignas(16) std::uint64_t first_ = 0;
  std::uint64_t second_ = 0;
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
};
static_assert(sizeof(double_word) == 16 && alignof(double_word) == 16);

}  // namespace polder
#endif
