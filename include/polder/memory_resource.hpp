#pragma once
// memory_resource — Polder's heap behind std::pmr, over polder.h alone.
//
//   std::pmr::vector<int> v(polder::resource());
//
// Every object of the class is the same heap: all compare equal, and none holds any state. Without RTTI nobody knows another's class,
// and each is equal to itself alone. Where exceptions are off, what would throw ends the program.
#include <polder.h>

#include <cstddef>
#include <memory_resource>
#include <new>

#include <polder/refuse.hpp>

namespace polder {
#ifndef __cpp_rtti
inline namespace without_rtti {  // its table of functions is not for those who look for a type in it
#endif

class memory_resource final : public std::pmr::memory_resource {
 private:
  static constexpr std::size_t natural_alignment = 16;

  // Throws std::bad_alloc.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const p = alignment <= natural_alignment ? polder_malloc(bytes) : polder_aligned_alloc(alignment, bytes);
    if (p == nullptr) refuse<std::bad_alloc>();
    return p;
  }

  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    if (alignment <= natural_alignment) {
      polder_free_sized(p, bytes);
    } else {
      polder_free_aligned_sized(p, alignment, bytes);
    }
  }

  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
#ifdef __cpp_rtti
    return dynamic_cast<const memory_resource*>(&other) != nullptr;
#else
    return this == &other;
#endif
  }
};

// One for the whole program, never destroyed.
inline memory_resource* resource() noexcept {
  alignas(memory_resource) static std::byte place[sizeof(memory_resource)];
  static memory_resource* const one = ::new (place) memory_resource;
  return one;
}

#ifndef __cpp_rtti
}  // namespace without_rtti
#endif
}  // namespace polder
