#pragma once
// published — a copy of what others publish, sorted: one scan's, kept by its thread for the next.
//
// Without memory for all of it there is none: whole() is false, and who asks must go through the words themselves.
//
// A child of a fork never finds more room than there is: where it grows, the compiler keeps the order (bag.hpp).
#include <algorithm>
#include <cstddef>
#include <functional>
#include <new>
#include <utility>

#include <polder/sync/atomic.hpp>

namespace polder::smr {

template <class T>
class published {
 public:
  published() = default;
  published(const published&) = delete;
  published& operator=(const published&) = delete;
  ~published() { delete[] items_; }

  void begin() noexcept {
    size_ = 0;
    whole_ = true;
  }
  void add(const T& item) noexcept {
    if (size_ == room_ && !grow()) {
      whole_ = false;
      return;
    }
    items_[size_++] = item;
  }
  template <class Less = std::less<T>>
  void end(Less less = {}) noexcept {
    std::sort(items_, items_ + size_, less);
  }

  // Neighbours become one where both(a, b) made a cover b too.
  template <class Both>
  void merge(Both&& both) noexcept {
    std::size_t last = 0;
    for (std::size_t i = 1; i < size_; ++i) {
      if (!both(items_[last], items_[i])) items_[++last] = items_[i];
    }
    if (size_ != 0) size_ = last + 1;
  }

  bool whole() const noexcept { return whole_; }
  bool empty() const noexcept { return size_ == 0; }
  const T* begin_item() const noexcept { return items_; }
  const T* end_item() const noexcept { return items_ + size_; }

 private:
  bool grow() noexcept {
    const std::size_t room = room_ == 0 ? 64 : 2 * room_;
    T* const more = new (std::nothrow) T[room];
    if (more == nullptr) return false;
    std::copy(items_, items_ + size_, more);
    delete[] std::exchange(items_, more);
    signal_fence();
    room_ = room;
    return true;
  }

  T* items_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
  bool whole_ = true;
};

}  // namespace polder::smr
