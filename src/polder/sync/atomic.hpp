#pragma once
// atomic — the one word type that threads share, in one of several worlds.
//
//   native   a thin cover over std::atomic without default orders
//   model    Relacy's atomics (POLDER_MODEL defined): every operation is a scheduling point and every legal
//            stale value is tried; see sync/atomic_model.hpp
//
// Protocol files include only base/ and sync/, so the same text runs in every world.
// `plain<T>` is a field that one thread at a time may touch: bare in the native world, race-checked in the model.

#if defined(POLDER_MODEL)
#include <polder/sync/atomic_model.hpp>
#else
#include <atomic>
#include <cstdint>

#include <polder/base/sanitizers.hpp>

namespace polder {

enum class order : int {
  relaxed = int(std::memory_order_relaxed),
  acquire = int(std::memory_order_acquire),
  release = int(std::memory_order_release),
  acq_rel = int(std::memory_order_acq_rel),
  seq_cst = int(std::memory_order_seq_cst),
};

namespace native {
constexpr std::memory_order std_order(order o) { return static_cast<std::memory_order>(o); }
}  // namespace native

template <class T>
class atomic {
 public:
  constexpr atomic() noexcept : value_{} {}
  constexpr explicit atomic(T v) noexcept : value_(v) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  [[gnu::always_inline]] T load(order o) const noexcept { return value_.load(native::std_order(o)); }
  [[gnu::always_inline]] void store(T v, order o) noexcept { value_.store(v, native::std_order(o)); }
  [[gnu::always_inline]] T exchange(T v, order o) noexcept { return value_.exchange(v, native::std_order(o)); }

  // Strong compare-and-swap; on failure `expected` holds what was seen.
  [[gnu::always_inline]] bool cas(T& expected, T desired, order success, order failure) noexcept {
    return value_.compare_exchange_strong(expected, desired, native::std_order(success),
                                          native::std_order(failure));
  }

  [[gnu::always_inline]] T fetch_add(T v, order o) noexcept { return value_.fetch_add(v, native::std_order(o)); }
  [[gnu::always_inline]] T fetch_sub(T v, order o) noexcept { return value_.fetch_sub(v, native::std_order(o)); }
  [[gnu::always_inline]] T fetch_or(T v, order o) noexcept { return value_.fetch_or(v, native::std_order(o)); }
  [[gnu::always_inline]] T fetch_and(T v, order o) noexcept { return value_.fetch_and(v, native::std_order(o)); }

 private:
  std::atomic<T> value_;
  static_assert(std::atomic<T>::is_always_lock_free);
};

// The standard's own, where an interface names it.
template <class T>
using standard_atomic = std::atomic<T>;

// One as a source to load from.
template <class T>
class standard_source {
 public:
  explicit standard_source(const standard_atomic<T>& a) noexcept : of_(a) {}
  [[gnu::always_inline]] T load(order o) const noexcept { return of_.load(native::std_order(o)); }

 private:
  const standard_atomic<T>& of_;
};

// A store-load fence when `o` is seq_cst; the argument for each use stands at the use.
#if POLDER_TSAN
// ThreadSanitizer does not know fences. A read-modify-write of one word that all fences share orders at least as much.
namespace native {
inline constinit std::atomic<unsigned> fence_word{0};
}
inline void fence(order) noexcept { native::fence_word.fetch_add(0, std::memory_order_seq_cst); }
#else
[[gnu::always_inline]] inline void fence(order o) noexcept { std::atomic_thread_fence(native::std_order(o)); }
#endif

// Keeps the compiler, not the processor, from moving memory accesses across: the light side of an asymmetric fence
// whose heavy side is membarrier(2), and the order between a thread and its own signal handlers.
[[gnu::always_inline]] inline void signal_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

// Replaces a word that one thread and its own signal handlers share, if it is still `expected`. Not for other threads.
template <class T>
[[gnu::always_inline]] inline bool replace_own(T& word, T expected, T desired) noexcept {
  return __atomic_compare_exchange_n(&word, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// Puts `desired` there, and returns what was there.
template <class T>
[[gnu::always_inline]] inline T exchange_own(T& word, T desired) noexcept {
  return __atomic_exchange_n(&word, desired, __ATOMIC_RELAXED);
}

template <class T>
class plain {
 public:
  constexpr plain() noexcept = default;
  constexpr explicit plain(T v) noexcept : value_(v) {}
  [[gnu::always_inline]] T get() const noexcept { return value_; }
  [[gnu::always_inline]] void set(T v) noexcept { value_ = v; }

 private:
  T value_{};
};

}  // namespace polder
#endif

namespace polder {

// For the fast paths, relaxed. Compilers load what is atomic into a register before they do anything with it; these are one
// instruction and a jump, where the processor has such instructions.
//   take_one   from a word that one thread and its own signal handlers alone write. True: it was 0, and is the greatest now
//   is_below   v < word
//   is_equal   v == word
#if defined(__x86_64__) && !defined(POLDER_MODEL) && !POLDER_TSAN
[[gnu::always_inline]] inline bool take_one(atomic<std::uint32_t>& word) noexcept {
  bool was_zero;
  asm volatile("subl $1, %0" : "+m"(reinterpret_cast<std::uint32_t&>(word)), "=@ccc"(was_zero));
  return was_zero;
}
[[gnu::always_inline]] inline bool is_below(std::uint64_t v, const atomic<std::uint64_t>& word) noexcept {
  bool above;
  asm volatile("cmpq %2, %1" : "=@cca"(above) : "m"(word), "r"(v));
  return above;
}
[[gnu::always_inline]] inline bool is_equal(std::uint32_t v, const atomic<std::uint32_t>& word) noexcept {
  bool equal;
  asm volatile("cmpl %2, %1" : "=@ccz"(equal) : "m"(word), "r"(v));
  return equal;
}
#else
[[gnu::always_inline]] inline bool take_one(atomic<std::uint32_t>& word) noexcept {
  const std::uint32_t was = word.load(order::relaxed);
  word.store(was - 1, order::relaxed);
  return was == 0;
}
template <class T>
[[gnu::always_inline]] inline bool is_below(T v, const atomic<T>& word) noexcept {
  return v < word.load(order::relaxed);
}
template <class T>
[[gnu::always_inline]] inline bool is_equal(T v, const atomic<T>& word) noexcept {
  return v == word.load(order::relaxed);
}
#endif

}  // namespace polder
