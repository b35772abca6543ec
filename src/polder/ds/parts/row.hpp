#pragma once
// row — so many cells side by side, as many as are known when it is made; from where a structure's nodes come.
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace polder::ds {

template <class Cell, class Memory>
class row {
  static_assert(alignof(Cell) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  // Throws std::bad_alloc.
  explicit row(std::size_t cells) : size_(cells), first_(static_cast<Cell*>(take(cells))) {
    std::uninitialized_value_construct_n(first_, size_);
  }
  row(row&& other) noexcept : size_(std::exchange(other.size_, 0)), first_(std::exchange(other.first_, nullptr)) {}
  row& operator=(row&&) = delete;
  ~row() {
    if (first_ == nullptr) return;
    std::destroy_n(first_, size_);
    give();
  }

  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return size_ * sizeof(Cell); }
  Cell& operator[](std::size_t i) const noexcept { return first_[i]; }

 private:
  static void* take(std::size_t cells) {
    if (cells > std::numeric_limits<std::size_t>::max() / sizeof(Cell)) throw std::bad_alloc();
    if constexpr (requires { Memory::operator new(std::size_t{}); })
      return Memory::operator new(cells * sizeof(Cell));
    else return ::operator new(cells * sizeof(Cell));
  }
  void give() noexcept {
    if constexpr (requires { Memory::operator delete(nullptr, std::size_t{}); })
      Memory::operator delete(first_, bytes());
    else if constexpr (requires { Memory::operator delete(nullptr); }) Memory::operator delete(first_);
    else ::operator delete(first_);
  }

  std::size_t size_;
  Cell* first_;
};

}  // namespace polder::ds
