#pragma once
// calls — the malloc family as a compiler sees it that knows nothing about it.
//
// A compiler folds `malloc(n) % 16` to 0, drops a malloc whose block is only freed, and forwards what was stored before
// a realloc. The probe asks exactly these questions, so every call goes through a pointer the optimiser cannot read,
// and every block comes back as a pointer it cannot trace.
#include <dlfcn.h>
#include <malloc.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// clang 16 declares the sized forms only when told to.
void operator delete(void*, std::size_t) noexcept;
void operator delete[](void*, std::size_t) noexcept;
void operator delete(void*, std::size_t, std::align_val_t) noexcept;
void operator delete[](void*, std::size_t, std::align_val_t) noexcept;

namespace conformance {

template <class T>
T opaque(T value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

namespace subject {
inline void* malloc(std::size_t n) { return opaque(opaque(&::malloc)(opaque(n))); }
inline void* calloc(std::size_t n, std::size_t m) { return opaque(opaque(&::calloc)(opaque(n), opaque(m))); }
inline void* realloc(void* p, std::size_t n) { return opaque(opaque(&::realloc)(opaque(p), opaque(n))); }
inline void* reallocarray(void* p, std::size_t n, std::size_t m) {
  return opaque(opaque(&::reallocarray)(opaque(p), opaque(n), opaque(m)));
}
inline void free(void* p) { opaque (&::free)(opaque(p)); }
inline void* aligned_alloc(std::size_t a, std::size_t n) {
  return opaque(opaque(&::aligned_alloc)(opaque(a), opaque(n)));
}
inline void* memalign(std::size_t a, std::size_t n) { return opaque(opaque(&::memalign)(opaque(a), opaque(n))); }
inline int posix_memalign(void** p, std::size_t a, std::size_t n) {
  return opaque(opaque(&::posix_memalign)(opaque(p), opaque(a), opaque(n)));
}
inline void* valloc(std::size_t n) { return opaque(opaque(&::valloc)(opaque(n))); }
inline void* pvalloc(std::size_t n) { return opaque(opaque(&::pvalloc)(opaque(n))); }
inline std::size_t usable(void* p) { return opaque(opaque(&::malloc_usable_size)(opaque(p))); }

inline void* new_plain(std::size_t n) { return opaque(::operator new(opaque(n))); }
inline void* new_array(std::size_t n) { return opaque(::operator new[](opaque(n))); }
inline void* new_plain(std::size_t n, const std::nothrow_t& t) { return opaque(::operator new(opaque(n), t)); }
inline void* new_array(std::size_t n, const std::nothrow_t& t) { return opaque(::operator new[](opaque(n), t)); }
inline void* new_plain(std::size_t n, std::align_val_t a) { return opaque(::operator new(opaque(n), opaque(a))); }
inline void* new_array(std::size_t n, std::align_val_t a) { return opaque(::operator new[](opaque(n), opaque(a))); }
inline void* new_plain(std::size_t n, std::align_val_t a, const std::nothrow_t& t) {
  return opaque(::operator new(opaque(n), opaque(a), t));
}
inline void* new_array(std::size_t n, std::align_val_t a, const std::nothrow_t& t) {
  return opaque(::operator new[](opaque(n), opaque(a), t));
}
}  // namespace subject

// A function this libc may not have at all, or not under a name one can link to.
template <class F>
F* optional_function(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace conformance
