#pragma once
// allocator — Polder's heap as a standard allocator, over polder.h alone.
//
//   std::vector<int, polder::allocator<int>> v;
//
// Stateless: all allocators are equal, of whatever T. Where exceptions are off, what would throw ends the program.
#include <polder.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include <polder/refuse.hpp>

namespace polder {

#ifdef __cpp_lib_allocate_at_least  // what std::allocator_traits wants to be given
template <class T>
using allocation_result = std::allocation_result<T*>;
#else
template <class T>
struct allocation_result {  // std::allocation_result of C++23
  T* ptr;
  std::size_t count;
};
#endif

template <class T>
class allocator {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using is_always_equal = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;

  constexpr allocator() noexcept = default;
  template <class U>
  constexpr allocator(const allocator<U>&) noexcept {}

  // Throws std::bad_array_new_length where the size overflows, std::bad_alloc where there is no memory.
  [[nodiscard]] T* allocate(std::size_t n) {
    void* const p = over_aligned ? polder_aligned_alloc(alignof(T), bytes(n)) : polder_malloc(bytes(n));
    if (p == nullptr) refuse<std::bad_alloc>();
    return static_cast<T*>(p);
  }

  // Room for n objects or more, and for how many; deallocate takes any count from n to that. Throws as allocate.
  [[nodiscard]] allocation_result<T> allocate_at_least(std::size_t n) {
    if constexpr (over_aligned) {
      return {allocate(n), n};
    } else {
      const polder_allocation a = polder_allocate_at_least(bytes(n));
      if (a.ptr == nullptr) refuse<std::bad_alloc>();
      return {static_cast<T*>(a.ptr), a.size / sizeof(T)};
    }
  }

  void deallocate(T* p, std::size_t n) noexcept {
    if constexpr (over_aligned) {
      polder_free_aligned_sized(p, alignof(T), n * sizeof(T));
    } else {
      polder_free_sized(p, n * sizeof(T));
    }
  }

 private:
  static constexpr bool over_aligned = alignof(T) > 16;

  static std::size_t bytes(std::size_t n) {
    if (n > PTRDIFF_MAX / sizeof(T)) refuse<std::bad_array_new_length>();
    return n * sizeof(T);
  }
};

template <class T, class U>
constexpr bool operator==(const allocator<T>&, const allocator<U>&) noexcept {
  return true;
}

#ifndef __cpp_impl_three_way_comparison  // C++20 makes it of ==
template <class T, class U>
constexpr bool operator!=(const allocator<T>&, const allocator<U>&) noexcept {
  return false;
}
#endif

}  // namespace polder
