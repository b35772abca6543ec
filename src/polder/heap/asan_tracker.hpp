#pragma once
// asan_tracker — tells AddressSanitizer, where the program has it, which bytes are out of bounds, and LeakSanitizer where else
// pointers may lie. The library itself is compiled as ever and also runs in programs without either.
#include <array>
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>
#include <polder/sync/atomic.hpp>

// <sanitizer/asan_interface.h> declares them, but not weak.
extern "C" {
[[gnu::weak, gnu::visibility("default")]] void __asan_poison_memory_region(const volatile void* p, std::size_t n);
[[gnu::weak, gnu::visibility("default")]] void __asan_unpoison_memory_region(const volatile void* p, std::size_t n);
[[gnu::weak, gnu::visibility("default")]] void __lsan_register_root_region(const void* p, std::size_t n);
}

namespace polder::heap {

class asan_tracker {
 public:
  static constexpr std::size_t arena_size = 0;

  struct quiet {
    quiet() noexcept {}  // what is not instrumented is not looked at
  };

  void born(void* p, std::size_t n, std::size_t held, bool) noexcept {
    shrank(p, n, held, held);
    if (&__lsan_register_root_region != nullptr) tell_of_roots(address(p), address(p) + held);
  }
  void shrank(void* p, std::size_t n, std::size_t, std::size_t held) noexcept {
    if (&__asan_poison_memory_region != nullptr)
      __asan_poison_memory_region(static_cast<std::byte*>(p) + n, held - n);
  }
  void died(void* p, std::size_t held) noexcept {
    if (&__asan_poison_memory_region != nullptr) __asan_poison_memory_region(p, held);
  }
  void resumed(void* p, std::size_t held) noexcept {
    if (&__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(p, held);
  }

 private:
  static constexpr std::size_t region = 4 * MiB;

  // LeakSanitizer scans what is readable of a region and not poisoned, so each need be told but once, whatever comes to lie there.
  void tell_of_roots(std::uintptr_t from, std::uintptr_t to) noexcept {
    for (std::uintptr_t r = align_down(from, region); r < to; r += region)
      if (is_new(r)) __lsan_register_root_region(at_address(r), region);
  }

  bool is_new(std::uintptr_t r) noexcept {
    std::size_t i = r / region;
    for (unsigned tries = 0; tries < 64; ++tries, ++i) {
      auto& slot = told_[i % told_.size()];
      std::uintptr_t known = slot.load(order::relaxed);
      if (known == 0 && slot.cas(known, r, order::relaxed, order::relaxed)) return true;
      if (known == r) return false;
    }
    return false;  // 64 GiB are known; what only the rest points to may be called a leak
  }

  // told_ — regions that LeakSanitizer knows; 0: none yet.
  //   written by  who tells, once, by CAS
  //   order       relaxed: nothing goes by it but who tells
  std::array<atomic<std::uintptr_t>, 16384> told_;
};

}  // namespace polder::heap
