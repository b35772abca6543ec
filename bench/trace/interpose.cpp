// libpolder-trace.so — the malloc family of a program: forwarded to the next malloc, and recorded (recorder.hpp).
//
// operator new is recorded as the malloc it is, and only falls back on the C++ library's when there is no memory, for its
// new-handler and its exception. A preloaded heap with an operator new of its own is so recorded as well.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "trace/next_malloc.hpp"
#include "trace/recorder.hpp"

namespace polder::trace {
namespace {

constinit next_malloc next;

// One call: on the outermost one of a thread, its side of the recorder.
class recorded {
 public:
  recorded() : thread_(the_recorder.enter()) {}
  ~recorded() {
    if (thread_ != nullptr) the_recorder.leave(*thread_);
  }
  recorded(const recorded&) = delete;
  recorded& operator=(const recorded&) = delete;
  explicit operator bool() const { return thread_ != nullptr; }
  recording_thread& operator*() const { return *thread_; }

 private:
  recording_thread* thread_;
};

void* allocate(std::size_t size) {
  const next_calls* to = next.get();
  if (to == nullptr) return next.early(size);
  const recorded now;
  void* block = to->malloc(size);
  if (now) the_recorder.made(*now, call::malloc, size, 0, block);
  return block;
}

void release(void* block) {
  if (next.is_early(block)) return;
  const next_calls* to = next.get();
  if (to == nullptr) return;
  const recorded now;
  if (now) the_recorder.used(*now, call::free, block);
  to->free(block);
}

void* resize(void* old, std::size_t size) {
  const next_calls* to = next.get();
  if (to == nullptr || next.is_early(old)) {
    void* block = to == nullptr ? next.early(size) : allocate(size);
    if (block != nullptr && old != nullptr) std::memcpy(block, old, std::min(size, next_malloc::early_size(old)));
    return block;
  }
  const recorded now;
  const std::uint64_t before = now ? the_recorder.draw_ticket() : 0;
  void* block = to->realloc(old, size);
  if (now) the_recorder.resized(*now, before, size, old, block);
  return block;
}

void* allocate_aligned(call what, void* (*next_calls::*function)(std::size_t, std::size_t), std::size_t alignment,
                       std::size_t size) {
  const next_calls* to = next.get();
  if (to == nullptr) return next.early(size);
  const recorded now;
  void* block = (to->*function)(alignment, size);
  if (now) the_recorder.made(*now, what, size, alignment, block);
  return block;
}

// The C++ library's own form, when there is no memory: it calls the new-handler and throws.
template <class... Arguments>
void* without_memory(const char* name, Arguments... arguments) {
  auto* theirs = reinterpret_cast<void* (*)(Arguments...)>(dlsym(RTLD_NEXT, name));
  if (theirs == nullptr) std::abort();
  return theirs(arguments...);
}

}  // namespace
}  // namespace polder::trace

using namespace polder::trace;
using std::size_t;

#define EXPORT extern "C" [[gnu::visibility("default")]]

EXPORT void* malloc(size_t size) { return allocate(size); }
EXPORT void free(void* block) { release(block); }
EXPORT void* realloc(void* block, size_t size) { return resize(block, size); }

EXPORT void* calloc(size_t n, size_t size) {
  const next_calls* to = next.get();
  if (to == nullptr) return next.early(n * size);
  const recorded now;
  void* block = to->calloc(n, size);
  if (now) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, size, &bytes)) bytes = SIZE_MAX;
    the_recorder.made(*now, call::calloc, bytes, 0, block);
  }
  return block;
}

EXPORT void* reallocarray(void* block, size_t n, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(n, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return resize(block, bytes);
}

EXPORT int posix_memalign(void** out, size_t alignment, size_t size) {
  const next_calls* to = next.get();
  if (to == nullptr) return ENOMEM;
  const recorded now;
  const int error = to->posix_memalign(out, alignment, size);
  if (now) the_recorder.made(*now, call::posix_memalign, size, alignment, error == 0 ? *out : nullptr);
  return error;
}

EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  return allocate_aligned(call::aligned_alloc, &next_calls::aligned_alloc, alignment, size);
}
EXPORT void* memalign(size_t alignment, size_t size) {
  return allocate_aligned(call::memalign, &next_calls::memalign, alignment, size);
}
EXPORT void* valloc(size_t size) { return memalign(static_cast<size_t>(getpagesize()), size); }
EXPORT void* pvalloc(size_t size) {
  const auto page = static_cast<size_t>(getpagesize());
  return memalign(page, size > SIZE_MAX - page ? size : (size + page - 1) / page * page);
}

EXPORT size_t malloc_usable_size(void* block) {
  if (next.is_early(block)) return next_malloc::early_size(block);
  const next_calls* to = next.get();
  if (to == nullptr) return 0;
  const recorded now;
  if (now) the_recorder.used(*now, call::usable_size, block);
  return to->malloc_usable_size(block);
}

EXPORT void free_sized(void* block, size_t) { release(block); }
EXPORT void free_aligned_sized(void* block, size_t, size_t) { release(block); }

// C++, by the names of its ABI: m is size_t, St11align_val_t is std::align_val_t, the RKSt9nothrow_t is std::nothrow.
extern "C" {
#define NEW(symbol)                                                  \
  [[gnu::visibility("default")]] void* symbol(size_t size) {         \
    void* block = allocate(size);                                    \
    return block != nullptr ? block : without_memory(#symbol, size); \
  }
NEW(_Znwm)
NEW(_Znam)
#define NEW_NOTHROW(symbol)                                                       \
  [[gnu::visibility("default")]] void* symbol(size_t size, const void* nothrow) { \
    void* block = allocate(size);                                                 \
    return block != nullptr ? block : without_memory(#symbol, size, nothrow);     \
  }
NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
NEW_NOTHROW(_ZnamRKSt9nothrow_t)
#define NEW_ALIGNED(symbol)                                                                 \
  [[gnu::visibility("default")]] void* symbol(size_t size, size_t alignment) {              \
    void* block = allocate_aligned(call::memalign, &next_calls::memalign, alignment, size); \
    return block != nullptr ? block : without_memory(#symbol, size, alignment);             \
  }
NEW_ALIGNED(_ZnwmSt11align_val_t)
NEW_ALIGNED(_ZnamSt11align_val_t)
#define NEW_ALIGNED_NOTHROW(symbol)                                                                 \
  [[gnu::visibility("default")]] void* symbol(size_t size, size_t alignment, const void* nothrow) { \
    void* block = allocate_aligned(call::memalign, &next_calls::memalign, alignment, size);         \
    return block != nullptr ? block : without_memory(#symbol, size, alignment, nothrow);            \
  }
NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)
// Whatever comes after the block is not needed.
#define DELETE(symbol) \
  [[gnu::visibility("default")]] void symbol(void* block) { release(block); }
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
}
