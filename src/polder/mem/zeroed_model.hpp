#pragma once
// zeroed_model — mem/zeroed.hpp in the world of the model checker: of many objects only the first few exist, which is all
// that a model touches; and all of them end together, when the execution does.
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include <polder/sync/atomic.hpp>

namespace polder::mem {

class zeroed {
 public:
  static constexpr std::size_t few = 9;

  template <class T>
  static std::size_t bytes(std::size_t count) noexcept {
    return count * sizeof(T);
  }
  template <class T>
  static T* make(std::size_t count) noexcept {
    used_ = (used_ + 63) / 64 * 64;
    RL_ASSERT(used_ + count * sizeof(T) <= sizeof room_);
    T* const first = reinterpret_cast<T*>(room_ + used_);
    used_ += count * sizeof(T);
    for (std::size_t i = 0; i != count && i != few; ++i) begin(first + i);
    return first;
  }
  template <class T>
  static void discard(T*, std::size_t) noexcept {}

  // At the end of an execution.
  static void all_end() noexcept {
    while (made_ != 0) --made_, ends_[made_].of(ends_[made_].what);
    used_ = 0;
  }

 private:
  template <class T>
  static void begin(T* p) {
    new (p) T();
    RL_ASSERT(made_ != sizeof ends_ / sizeof *ends_);
    ends_[made_++] = {p, [](void* what) { static_cast<T*>(what)->~T(); }};
  }
  // An array is as much as its elements.
  template <class E, std::size_t n>
  static void begin(std::array<E, n>* p) {
    for (std::size_t i = 0; i != n && i != few; ++i) begin(p->data() + i);
  }

  struct end {
    void* what;
    void (*of)(void*);
  };
  alignas(64) static inline std::byte room_[std::size_t{4} << 20];
  static inline end ends_[512];
  static inline std::size_t used_ = 0, made_ = 0;
};

}  // namespace polder::mem
