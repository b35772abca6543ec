#pragma once
// cells — a number of them that is told at run time, made and destroyed together; from where a structure's nodes come.
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include <polder/ds/parts/memory.hpp>

namespace polder::ds {

template <class Cell, class Memory = heap_memory>
class cells {
 public:
  // Throws std::bad_alloc.
  explicit cells(std::size_t n) : first_(static_cast<Cell*>(allocate(n))), n_(n) {
    std::uninitialized_value_construct_n(first_, n_);  // cells that cannot throw
  }
  cells(cells&& other) noexcept : first_(std::exchange(other.first_, nullptr)), n_(std::exchange(other.n_, 0)) {}
  cells& operator=(cells&&) = delete;
  ~cells() {
    if (first_ == nullptr) return;
    std::destroy_n(first_, n_);
    deallocate();
  }

  Cell& operator[](std::size_t i) const noexcept { return first_[i]; }
  std::size_t size() const noexcept { return n_; }
  std::size_t bytes() const noexcept { return n_ * sizeof(Cell); }

 private:
  static constexpr bool aligned = alignof(Cell) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  static constexpr std::align_val_t alignment{alignof(Cell)};

  // Memory's own operators, or the global ones: what `new` does for one object whose class derives from Memory. The global
  // sized ones are not there under every compiler (clang before 19).
  static void* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(Cell)) throw std::bad_alloc();
    const std::size_t size = n * sizeof(Cell);
    if constexpr (requires { Memory::operator new(size); }) {
      if constexpr (aligned) return Memory::operator new(size, alignment);
      else return Memory::operator new(size);
    } else {
      if constexpr (aligned) return ::operator new(size, alignment);
      else return ::operator new(size);
    }
  }
  void deallocate() noexcept {
    if constexpr (!requires { Memory::operator new(bytes()); }) {
      if constexpr (aligned) ::operator delete(first_, alignment);
      else ::operator delete(first_);
    } else if constexpr (aligned) {
      if constexpr (requires { Memory::operator delete(first_, bytes(), alignment); }) {
        Memory::operator delete(first_, bytes(), alignment);
      } else {
        Memory::operator delete(first_, alignment);
      }
    } else {
      if constexpr (requires { Memory::operator delete(first_, bytes()); })
        Memory::operator delete(first_, bytes());
      else Memory::operator delete(first_);
    }
  }

  Cell* first_;
  std::size_t n_;
};

}  // namespace polder::ds
