#pragma once
// bump_arena — an allocator as programs bring along: one array, a pointer that moves up, sizes in front, no free.
#include <atomic>
#include <cstddef>
#include <cstring>

namespace preload {

class bump_arena {
 public:
  void* allocate(std::size_t n) {
    const std::size_t whole = (n + 31) / 16 * 16;
    const std::size_t at = used_.fetch_add(whole, std::memory_order_relaxed);
    if (at + whole > sizeof bytes_) return nullptr;
    std::memcpy(bytes_ + at + 8, &n, sizeof n);
    return bytes_ + at + 16;
  }
  bool owns(const void* p) const { return p >= bytes_ && p < bytes_ + sizeof bytes_; }
  static std::size_t size(const void* p) {
    std::size_t n;
    std::memcpy(&n, static_cast<const char*>(p) - 8, sizeof n);
    return n;
  }

 private:
  std::atomic<std::size_t> used_{0};
  alignas(16) char bytes_[std::size_t{96} << 20] = {};
};

}  // namespace preload
