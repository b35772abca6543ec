#pragma once
// preallocated — Scal's memory: each thread bumps a pointer through a region of its own, and nothing is ever freed. The
// measure of what reclamation and a heap cost; a run that needs more than the region ends with a line that says so.
#include <cstddef>
#include <new>

namespace polder::bench {

// How many bytes all threads together may use; mapped and touched before the measured phase.
void preallocate(std::size_t bytes);

class preallocated {
 public:
  static void* operator new(std::size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
  static void* operator new(std::size_t bytes, std::align_val_t a) {
    return take(bytes, static_cast<std::size_t>(a));
  }
  static void* operator new(std::size_t, void* p) noexcept { return p; }
  static void operator delete(void*) noexcept {}
  static void operator delete(void*, std::align_val_t) noexcept {}

 private:
  static void* take(std::size_t bytes, std::size_t alignment);
};

}  // namespace polder::bench
