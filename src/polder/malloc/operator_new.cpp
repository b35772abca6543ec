// operator_new — every form of `new`, over the same inlined fast path as malloc.
//
// [new.delete.single]: on failure call the new-handler and try again, for as long as there is one; then bad_alloc, or
// null for the nothrow forms. An alignment that is not a power of two fails like lack of memory, as in libstdc++.
// The forms of `delete` are names of free: see malloc.cpp.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/malloc/cxx_runtime.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/public.hpp>

namespace polder::face {
namespace {

void* aligned_once(std::size_t alignment, std::size_t n) {
  if (alignment <= min_alignment) return instance.allocate(n);
  if (n > PTRDIFF_MAX || alignment > PTRDIFF_MAX - n) return nullptr;
  return instance.allocate_aligned(alignment, n);
}

[[gnu::cold, gnu::noinline]] void* new_again(std::size_t n, std::size_t alignment) {
  while (call_new_handler()) {
    if (void* p = aligned_once(alignment, n)) return p;
  }
  throw_bad_alloc();
}

[[gnu::cold, gnu::noinline]] void* nothrow_again(std::size_t n, std::size_t alignment) noexcept {
  void* const p = new_again_or_null(n, alignment);
  if (p == nullptr) errno = ENOMEM;
  return p;
}

POLDER_NOINLINE void* new_missed(std::size_t n, bool inside) {
  void* const p = instance.allocate_missed(n, inside);
  return p != nullptr ? p : new_again(n, min_alignment);
}

POLDER_NOINLINE void* nothrow_new_missed(std::size_t n, bool inside) noexcept {
  void* const p = instance.allocate_missed(n, inside);
  return p != nullptr ? p : nothrow_again(n, min_alignment);
}

}  // namespace
}  // namespace polder::face

using namespace polder;
using namespace polder::face;

POLDER_PUBLIC void* operator new(std::size_t n) { return instance.allocate_or<new_missed>(n); }

POLDER_PUBLIC void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return instance.allocate_or<nothrow_new_missed>(n);
}

POLDER_PUBLIC void* operator new(std::size_t n, std::align_val_t a) {
  const auto alignment = std::size_t(a);
  if (!is_power_of_two(alignment)) [[unlikely]]
    throw_bad_alloc();
  void* p = aligned_once(alignment, n);
  if (p == nullptr) [[unlikely]]
    return new_again(n, alignment);
  return p;
}

POLDER_PUBLIC void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  const auto alignment = std::size_t(a);
  if (!is_power_of_two(alignment)) [[unlikely]]
    return nullptr;
  void* p = aligned_once(alignment, n);
  if (p == nullptr) [[unlikely]]
    return nothrow_again(n, alignment);
  return p;
}

POLDER_ALIAS(_Znwm) void* operator new[](std::size_t n);
POLDER_ALIAS(_ZnwmRKSt9nothrow_t) void* operator new[](std::size_t n, const std::nothrow_t&) noexcept;
POLDER_ALIAS(_ZnwmSt11align_val_t) void* operator new[](std::size_t n, std::align_val_t a);
POLDER_ALIAS(_ZnwmSt11align_val_tRKSt9nothrow_t)
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept;
