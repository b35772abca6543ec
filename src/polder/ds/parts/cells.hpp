#pragma once
// cells — a number of them that is told at run time, made and destroyed together.
#include <cstddef>
#include <memory>
#include <new>

#include <polder/ds/parts/memory.hpp>

namespace polder::ds {

template <class Cell, class Memory = heap_memory>
class cells {
 public:
  // Throws std::bad_alloc.
  explicit cells(std::size_t n) : first_(static_cast<Cell*>(allocate(n * sizeof(Cell)))), n_(n) {
    std::uninitialized_value_construct_n(first_, n_);  // cells that cannot throw
  }
  cells(const cells&) = delete;
  cells& operator=(const cells&) = delete;
  ~cells() {
    std::destroy_n(first_, n_);
    deallocate(first_, n_ * sizeof(Cell));
  }

  Cell& operator[](std::size_t i) noexcept { return first_[i]; }
  const Cell& operator[](std::size_t i) const noexcept { return first_[i]; }
  std::size_t size() const noexcept { return n_; }

 private:
  static constexpr bool aligned = alignof(Cell) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  static constexpr std::align_val_t alignment{alignof(Cell)};

  // Memory's own operators, or the global ones: what `new` does for one object whose class derives from Memory.
  static void* allocate(std::size_t bytes) {
    if constexpr (requires { Memory::operator new(bytes); }) {
      if constexpr (aligned) return Memory::operator new(bytes, alignment);
      else return Memory::operator new(bytes);
    } else {
      if constexpr (aligned) return ::operator new(bytes, alignment);
      else return ::operator new(bytes);
    }
  }
  static void deallocate(void* p, std::size_t bytes) noexcept {
    if constexpr (!requires { Memory::operator new(bytes); }) {
      if constexpr (aligned) ::operator delete(p, bytes, alignment);
      else ::operator delete(p, bytes);
    } else if constexpr (aligned) {
      if constexpr (requires { Memory::operator delete(p, bytes, alignment); }) {
        Memory::operator delete(p, bytes, alignment);
      } else {
        Memory::operator delete(p, alignment);
      }
    } else {
      if constexpr (requires { Memory::operator delete(p, bytes); }) Memory::operator delete(p, bytes);
      else Memory::operator delete(p);
    }
  }

  Cell* const first_;
  const std::size_t n_;
};

}  // namespace polder::ds
