#pragma once
// memory — where a structure's nodes come from: a type that they derive from.
//
//   heap_memory       operator new: the default, and what polder_free_batch takes back
//   memory_of<A>      a standard allocator without state, rebound to bytes
//
// One of a user's own has static operator new(size_t) and operator delete(void*, size_t), both also with std::align_val_t
// if nodes may ask for more than malloc's alignment.
#include <cstddef>
#include <memory>
#include <new>

namespace polder::ds {

struct heap_memory {};

template <class Allocator>
class memory_of {
  struct alignas(std::max_align_t) unit {
    std::byte bytes[alignof(std::max_align_t)];
  };
  using units = typename std::allocator_traits<Allocator>::template rebind_alloc<unit>;
  static constexpr std::size_t count(std::size_t bytes) { return (bytes + sizeof(unit) - 1) / sizeof(unit); }

 public:
  static void* operator new(std::size_t bytes) { return units().allocate(count(bytes)); }
  static void operator delete(void* p, std::size_t bytes) noexcept {
    units().deallocate(static_cast<unit*>(p), count(bytes));
  }
  static void* operator new(std::size_t, void* p) noexcept { return p; }

  // More than malloc's alignment, which not every allocator gives: the block begins at the next multiple, behind a unit at least,
  // and the one before it says where the first is.
  static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    const std::size_t n = count(bytes, alignment);
    unit* const first = units().allocate(n);
    void* p = first + 1;
    std::size_t room = (n - 1) * sizeof(unit);
    std::align(std::size_t(alignment), bytes, p, room);
    std::construct_at(before(p), first);
    return p;
  }
  static void operator delete(void* p, std::size_t bytes, std::align_val_t alignment) noexcept {
    units().deallocate(*std::launder(before(p)), count(bytes, alignment));
  }

 private:
  static_assert(sizeof(unit) >= sizeof(unit*));
  static unit** before(void* p) { return reinterpret_cast<unit**>(static_cast<unit*>(p) - 1); }
  static constexpr std::size_t count(std::size_t bytes, std::align_val_t alignment) {
    return count(bytes) + count(std::size_t(alignment));
  }
};

}  // namespace polder::ds
