// malloc — the C library's allocation functions over the one heap, with glibc 2.36's answers in every corner, and the
// names that mean the same, which must share a translation unit to share an address.
//
//   errno      ENOMEM where nothing is returned for want of memory; kept by everything that frees, and by posix_memalign, which
//              returns what is wrong: glibc's is written to
//   corners    as glibc's: malloc(0) and calloc(0, n) return a block · realloc(p, 0) frees and returns null ·
//              memalign and aligned_alloc round the alignment up to a power of two; only one above 2^63 is EINVAL ·
//              posix_memalign says EINVAL, leaving its argument alone, unless the alignment is a power of two and a
//              multiple of sizeof(void*) · pvalloc(0) returns a page · nothing above PTRDIFF_MAX is had
//   fast path  malloc, free, operator new and delete hold the heap's inlined code and nothing else; see
//              operator_new.cpp for `new`, replaceable.hpp for what their other forms do first
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

#include <polder/base/bits.hpp>
#include <polder/base/config.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/public.hpp>
#include <polder/malloc/replaceable.hpp>
#include <polder/os/errno_keeper.hpp>
#include <polder/os/pages.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattribute-alias"  // operator delete takes arguments that free does not look at
#pragma GCC diagnostic ignored \
    "-Wmissing-attributes"  // what <stdlib.h> promises of malloc, an alias need not repeat
#endif

namespace polder::face {

constexpr char malloc_is_linked = 1;

namespace {

constexpr std::size_t largest = PTRDIFF_MAX;

[[gnu::cold, gnu::noinline]] void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

[[gnu::always_inline]] inline void* had(void* p) {
  if (p == nullptr) [[unlikely]]
    return out_of_memory();
  return p;
}

POLDER_NOINLINE void* malloc_missed(std::size_t n, bool inside) noexcept {
  return had(instance.allocate_missed(n, inside));
}

POLDER_NOINLINE void* calloc_missed(std::size_t n, bool inside) noexcept {
  return had(instance.allocate_zeroed_missed(n, inside));
}

// For realloc of null and small alignments, the size where these have it. Not malloc itself: who counts the calls of both would count
// one twice.
POLDER_NOINLINE void* malloc_of_second(std::uintptr_t, std::size_t n) noexcept {
  return instance.allocate_or<malloc_missed>(n);
}

// A power of two, or any small number.
void* aligned(std::size_t alignment, std::size_t n) {
  if (alignment <= min_alignment) return malloc_of_second(alignment, n);
  if (n > largest || alignment > largest - n) return out_of_memory();
  return had(instance.allocate_aligned(alignment, n));
}

}  // namespace
}  // namespace polder::face

using namespace polder;
using namespace polder::face;

extern "C" {

POLDER_PUBLIC void* malloc(std::size_t n) noexcept { return instance.allocate_or<malloc_missed>(n); }

// The heap takes null as it takes any address that is not its own, off the fast path, and finds it harmless there.
POLDER_PUBLIC void free(void* p) noexcept { instance.deallocate(p); }

POLDER_PUBLIC void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t n;
  if (__builtin_mul_overflow(count, size, &n)) [[unlikely]]
    return out_of_memory();
  return instance.allocate_zeroed_or<calloc_missed>(n);
}

POLDER_PUBLIC void* realloc(void* p, std::size_t n) noexcept {
  if (p == nullptr) return malloc_of_second(address(p), n);
  if (n == 0) [[unlikely]] {
    instance.deallocate(p);
    return nullptr;
  }
  if (n > largest) [[unlikely]]
    return out_of_memory();
  return had(instance.reallocate(p, n));
}

POLDER_PUBLIC void* reallocarray(void* p, std::size_t count, std::size_t size) noexcept {
  std::size_t n;
  if (__builtin_mul_overflow(count, size, &n)) [[unlikely]]
    return out_of_memory();
  return realloc(p, n);
}

POLDER_PUBLIC void* memalign(std::size_t alignment, std::size_t n) noexcept {
  if (alignment > SIZE_MAX / 2 + 1) [[unlikely]] {
    errno = EINVAL;
    return nullptr;
  }
  return aligned(std::bit_ceil(alignment), n);
}

POLDER_PUBLIC int posix_memalign(void** into, std::size_t alignment, std::size_t n) noexcept {
  if (!is_power_of_two(alignment) || alignment < sizeof(void*)) return EINVAL;
  const os::errno_keeper keep;
  void* p = aligned(alignment, n);
  if (p == nullptr) return ENOMEM;
  *into = p;
  return 0;
}

POLDER_PUBLIC void* valloc(std::size_t n) noexcept { return aligned(os::page_size(), n); }

POLDER_PUBLIC void* pvalloc(std::size_t n) noexcept {
  const std::size_t page = os::page_size();
  if (n > largest - page) return out_of_memory();
  return aligned(page, n == 0 ? page : align_up(n, page));
}

POLDER_PUBLIC std::size_t malloc_usable_size(void* p) noexcept {
  return p == nullptr ? 0 : instance.usable_size(p);
}

// C23. A size that was never asked for this block stops the program.
POLDER_PUBLIC void free_sized(void* p, std::size_t n) noexcept { instance.deallocate_sized(p, n); }

POLDER_PUBLIC void free_aligned_sized(void* p, std::size_t alignment, std::size_t n) noexcept {
  if (p != nullptr) [[likely]]
    instance.deallocate_aligned_sized(p, alignment, n);
}

POLDER_ALIAS(free) void cfree(void* p) noexcept;
POLDER_ALIAS(memalign) void* aligned_alloc(std::size_t alignment, std::size_t n) noexcept;

// glibc's own names for them, which some programs call to get past an interposed malloc: they must not get past it.
POLDER_ALIAS(malloc) void* __libc_malloc(std::size_t n) noexcept;
POLDER_ALIAS(calloc) void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
POLDER_ALIAS(realloc) void* __libc_realloc(void* p, std::size_t n) noexcept;
POLDER_ALIAS(free) void __libc_free(void* p) noexcept;
POLDER_ALIAS(memalign) void* __libc_memalign(std::size_t alignment, std::size_t n) noexcept;
POLDER_ALIAS(valloc) void* __libc_valloc(std::size_t n) noexcept;
POLDER_ALIAS(pvalloc) void* __libc_pvalloc(std::size_t n) noexcept;
POLDER_ALIAS(reallocarray) void* __libc_reallocarray(void* p, std::size_t count, std::size_t size) noexcept;
POLDER_ALIAS(posix_memalign) int __posix_memalign(void** into, std::size_t alignment, std::size_t n) noexcept;

// polder.h
POLDER_ALIAS(malloc) void* polder_malloc(std::size_t n) noexcept;
POLDER_ALIAS(calloc) void* polder_calloc(std::size_t count, std::size_t size) noexcept;
POLDER_ALIAS(realloc) void* polder_realloc(void* p, std::size_t n) noexcept;
POLDER_ALIAS(reallocarray) void* polder_reallocarray(void* p, std::size_t count, std::size_t size) noexcept;
POLDER_ALIAS(memalign) void* polder_aligned_alloc(std::size_t alignment, std::size_t n) noexcept;
POLDER_ALIAS(posix_memalign) int polder_posix_memalign(void** into, std::size_t alignment, std::size_t n) noexcept;
POLDER_ALIAS(free) void polder_free(void* p) noexcept;
POLDER_ALIAS(free_sized) void polder_free_sized(void* p, std::size_t n) noexcept;
POLDER_ALIAS(free_aligned_sized)
void polder_free_aligned_sized(void* p, std::size_t alignment, std::size_t n) noexcept;
POLDER_ALIAS(malloc_usable_size) std::size_t polder_usable_size(void* p) noexcept;

}  // extern "C"

// operator delete is free, and every form that is told no size leads there, by the arrows of replaceable.hpp.
POLDER_REPLACEABLE_ALIAS(free) void operator delete(void* p) noexcept;
POLDER_REPLACEABLE_ALIAS(free) void operator delete(void* p, std::align_val_t) noexcept;

POLDER_REPLACEABLE void operator delete[](void* p) noexcept { ::operator delete(p); }
POLDER_REPLACEABLE void operator delete(void* p, const std::nothrow_t&) noexcept { ::operator delete(p); }
POLDER_REPLACEABLE void operator delete[](void* p, const std::nothrow_t&) noexcept { ::operator delete[](p); }
POLDER_REPLACEABLE void operator delete[](void* p, std::align_val_t a) noexcept { ::operator delete(p, a); }
POLDER_REPLACEABLE void operator delete(void* p, std::align_val_t a, const std::nothrow_t&) noexcept {
  ::operator delete(p, a);
}
POLDER_REPLACEABLE void operator delete[](void* p, std::align_val_t a, const std::nothrow_t&) noexcept {
  ::operator delete[](p, a);
}

namespace {
[[gnu::alias("free")]] void own_delete(void* p) noexcept;
[[gnu::alias("_ZdaPv")]] void own_array_delete(void* p) noexcept;
[[gnu::alias("free")]] void own_aligned_delete(void* p, std::align_val_t) noexcept;
[[gnu::alias("_ZdaPvSt11align_val_t")]] void own_aligned_array_delete(void* p, std::align_val_t) noexcept;

void free_aligned(void* p, std::size_t n, std::align_val_t a) noexcept {
  if (p != nullptr) [[likely]]
    instance.deallocate_aligned_sized(p, std::size_t(a), n);
}
}  // namespace

// The size is looked at where the block is the heap's.
POLDER_REPLACEABLE void operator delete(void* p, std::size_t n) noexcept {
  if (replaced(::operator delete, own_delete)) [[unlikely]]
    return ::operator delete(p);
  instance.deallocate_sized(p, n);
}
POLDER_REPLACEABLE void operator delete[](void* p, std::size_t n) noexcept {
  if (replaced(::operator delete[], own_array_delete) || replaced(::operator delete, own_delete)) [[unlikely]]
    return ::operator delete[](p);
  instance.deallocate_sized(p, n);
}
POLDER_REPLACEABLE void operator delete(void* p, std::size_t n, std::align_val_t a) noexcept {
  if (replaced(::operator delete, own_aligned_delete)) [[unlikely]]
    return ::operator delete(p, a);
  free_aligned(p, n, a);
}
POLDER_REPLACEABLE void operator delete[](void* p, std::size_t n, std::align_val_t a) noexcept {
  if (replaced(::operator delete[], own_aligned_array_delete) || replaced(::operator delete, own_aligned_delete))
      [[unlikely]]
    return ::operator delete[](p, a);
  free_aligned(p, n, a);
}
