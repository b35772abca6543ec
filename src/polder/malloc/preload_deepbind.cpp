// preload_deepbind — a library opened with RTLD_DEEPBIND looks in its own dependencies first, the C library among them:
// it would allocate from glibc's heap what the rest of the process frees into this one. So the flag is taken out. What
// is lost is the precedence of the plug-in's own symbols over equal names in the program.
//
// dlopen looks at its return address (the caller's RUNPATH and namespace count), hence a jump instead of a call.
#include <dlfcn.h>

#include <polder/malloc/public.hpp>
#include <polder/sync/atomic.hpp>

namespace {

using dlopen_function = void*(const char*, int);

// The C library's dlopen, or whoever's comes next. Written by anyone who looks it up, always to the same value.
constinit polder::atomic<dlopen_function*> next_dlopen;

}  // namespace

#if defined(__clang__)
#define POLDER_JUMP [[clang::musttail]]
#define POLDER_JUMPS
#else
#define POLDER_JUMP
#define POLDER_JUMPS [[gnu::optimize("optimize-sibling-calls")]]
#endif

extern "C" {

// Under a C++ name of its own: the declared one is noexcept, which would put a frame between the caller and the jump.
POLDER_PUBLIC void* dlopen_without_deepbind(const char* file, int mode) __asm__("dlopen");

POLDER_JUMPS void* dlopen_without_deepbind(const char* file, int mode) {
  dlopen_function* next = next_dlopen.load(polder::order::relaxed);
  if (next == nullptr) {
    next = reinterpret_cast<dlopen_function*>(dlsym(RTLD_NEXT, "dlopen"));
    next_dlopen.store(next, polder::order::relaxed);
  }
  POLDER_JUMP return next(file, mode & ~RTLD_DEEPBIND);
}

}  // extern "C"
