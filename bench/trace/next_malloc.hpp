#pragma once
// next_malloc — the malloc that the recorder forwards to: the next one in the dynamic linker's order, which is a preloaded
// heap or the C library.
//
// dlsym may itself allocate. Until it has answered, blocks come from a small array that is never given back.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace polder::trace {

struct next_calls {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void (*free)(void*);
  std::size_t (*malloc_usable_size)(void*);
};

class next_malloc {
 public:
  // Null while dlsym is being asked, by the same thread.
  const next_calls* get() {
    if (known_.load(std::memory_order_acquire)) [[likely]]  // sync: resolved
      return &calls_;
    return resolve();
  }

  // A block from the array, zeroed; it ends the program when that is full, which dlsym never comes near.
  void* early(std::size_t size) {
    const std::size_t rounded = (size + 15) / 16 * 16 + 16;
    const std::size_t at = used_.fetch_add(rounded, std::memory_order_relaxed);
    if (at + rounded > sizeof early_) std::abort();
    std::memcpy(early_ + at, &size, sizeof size);
    return early_ + at + 16;
  }
  bool is_early(const void* block) const {
    const auto* p = static_cast<const char*>(block);
    return p >= early_ && p < early_ + sizeof early_;
  }
  static std::size_t early_size(const void* block) {
    std::size_t size = 0;
    std::memcpy(&size, static_cast<const char*>(block) - 16, sizeof size);
    return size;
  }

 private:
  template <class F>
  static void find(F*& out, const char* name) {
    out = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
    if (out == nullptr) std::abort();
  }

  [[gnu::noinline]] const next_calls* resolve() {
    static thread_local bool resolving;
    if (resolving) return nullptr;
    resolving = true;
    next_calls found;
    find(found.malloc, "malloc");
    find(found.calloc, "calloc");
    find(found.realloc, "realloc");
    find(found.posix_memalign, "posix_memalign");
    find(found.aligned_alloc, "aligned_alloc");
    find(found.memalign, "memalign");
    find(found.free, "free");
    find(found.malloc_usable_size, "malloc_usable_size");
    calls_ = found;                                 // two threads that come here at once write the same
    known_.store(true, std::memory_order_release);  // sync: resolved
    resolving = false;
    return &calls_;
  }

  std::atomic<bool> known_{false};
  next_calls calls_{};
  std::atomic<std::size_t> used_{0};
  alignas(16) char early_[64 << 10]{};
};

}  // namespace polder::trace
