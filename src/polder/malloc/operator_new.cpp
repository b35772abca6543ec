// operator_new — every form of `new`, over the same inlined fast path as malloc.
//
// [new.delete.single]: on failure call the new-handler and try again, for as long as there is one; then bad_alloc, or
// null for the nothrow forms. An alignment that is not a power of two fails like lack of memory, as in libstdc++.
// The forms of `delete` lead to free: see malloc.cpp. Which form calls which: see replaceable.hpp.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/malloc/cxx_runtime.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/replaceable.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmissing-attributes"  // what is promised of operator new, an alias need not repeat
#endif

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

// After a first attempt without luck: the throwing form calls the new-handler and tries again for as long as there is
// one. Null: there is none any more, or it threw.
template <class Form, class... Arguments>
[[gnu::cold, gnu::noinline]] void* nothrow_again(Form* (*find_catching)() noexcept,
                                                 Arguments... arguments) noexcept {
  Form* const catching = has_new_handler() ? find_catching() : nullptr;
  void* const p = catching != nullptr ? catching(arguments..., std::nothrow_t()) : nullptr;
  if (p == nullptr) errno = ENOMEM;
  return p;
}

// By way of a throwing form that is not the heap's. Where no run-time library is found that catches, what it throws goes
// on to the caller, which does not expect it, and so ends the program.
template <class Form, class... Arguments>
[[gnu::cold, gnu::noinline]] void* nothrow_by(void* (*throwing)(Arguments...), Form* (*find_catching)() noexcept,
                                              Arguments... arguments) noexcept {
  Form* const catching = find_catching();
  return catching != nullptr ? catching(arguments..., std::nothrow_t()) : throwing(arguments...);
}

POLDER_NOINLINE void* new_missed(std::size_t n, bool inside) {
  void* const p = instance.allocate_missed(n, inside);
  return p != nullptr ? p : new_again(n, min_alignment);
}

POLDER_NOINLINE void* nothrow_new_missed(std::size_t n, bool inside) noexcept {
  void* const p = instance.allocate_missed(n, inside);
  return p != nullptr ? p : nothrow_again(catching_new, n);
}

}  // namespace
}  // namespace polder::face

using namespace polder;
using namespace polder::face;

POLDER_REPLACEABLE void* operator new(std::size_t n) { return instance.allocate_or<new_missed>(n); }

POLDER_REPLACEABLE void* operator new(std::size_t n, std::align_val_t a) {
  const auto alignment = std::size_t(a);
  if (!is_power_of_two(alignment)) [[unlikely]]
    throw_bad_alloc();
  void* p = aligned_once(alignment, n);
  if (p == nullptr) [[unlikely]]
    return new_again(n, alignment);
  return p;
}

POLDER_REPLACEABLE void* operator new[](std::size_t n) { return ::operator new(n); }
POLDER_REPLACEABLE void* operator new[](std::size_t n, std::align_val_t a) { return ::operator new(n, a); }

namespace {

[[gnu::alias("_Znwm")]] void* own_new(std::size_t n);
[[gnu::alias("_Znam")]] void* own_array_new(std::size_t n);
[[gnu::alias("_ZnwmSt11align_val_t")]] void* own_aligned_new(std::size_t n, std::align_val_t a);
[[gnu::alias("_ZnamSt11align_val_t")]] void* own_aligned_array_new(std::size_t n, std::align_val_t a);

void* aligned_or_null(std::size_t n, std::align_val_t a) noexcept {
  const auto alignment = std::size_t(a);
  if (!is_power_of_two(alignment)) [[unlikely]]
    return nullptr;
  void* p = aligned_once(alignment, n);
  if (p == nullptr) [[unlikely]]
    return nothrow_again(catching_aligned_new, n, a);
  return p;
}

}  // namespace

POLDER_REPLACEABLE void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  if (replaced(::operator new, own_new)) [[unlikely]]
    return nothrow_by(::operator new, catching_new, n);
  return instance.allocate_or<nothrow_new_missed>(n);
}

POLDER_REPLACEABLE void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  if (replaced(::operator new[], own_array_new) || replaced(::operator new, own_new)) [[unlikely]]
    return nothrow_by(::operator new[], catching_array_new, n);
  return instance.allocate_or<nothrow_new_missed>(n);
}

POLDER_REPLACEABLE void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  if (replaced(::operator new, own_aligned_new)) [[unlikely]]
    return nothrow_by(::operator new, catching_aligned_new, n, a);
  return aligned_or_null(n, a);
}

POLDER_REPLACEABLE void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  if (replaced(::operator new[], own_aligned_array_new) || replaced(::operator new, own_aligned_new)) [[unlikely]]
    return nothrow_by(::operator new[], catching_aligned_array_new, n, a);
  return aligned_or_null(n, a);
}
