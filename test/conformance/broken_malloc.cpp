// A malloc over glibc's with one mistake, named by the environment variable MISTAKE; "none" makes none. The probe must
// find every one of them.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

bool mistake(const char* name) {
  for (char** e = environ; e != nullptr && *e != nullptr; ++e)
    if (std::strncmp(*e, "MISTAKE=", 8) == 0) return std::strcmp(*e + 8, name) == 0;
  return false;
}
// What glibc keeps in front of a block: its size and three flags.
std::size_t size_of(void* p) {
  const std::size_t word = static_cast<std::size_t*>(p)[-1];
  return (word & ~std::size_t{7}) - ((word & 2) != 0 ? 16 : 8);
}
bool shifted(void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 8; }
void* unshifted(void* p) { return shifted(p) ? static_cast<char*>(p) - 8 : p; }

}  // namespace

extern "C" {

void free(void* p) {
  if (p == nullptr) return;
  p = unshifted(p);
  if (mistake("large blocks are not freed") && size_of(p) >= 1 << 20) return;
  const bool large = size_of(p) > 100'000;
  __libc_free(p);
  if (large && mistake("free changes errno")) errno = 0;
}
void* malloc(std::size_t n) {
  if (n <= 8 && mistake("8 bytes are 8-aligned")) return static_cast<char*>(__libc_malloc(n + 8)) + 8;
  const int before = errno;
  void* p = __libc_malloc(n);
  if (p == nullptr && mistake("no memory is an abort")) std::abort();
  if (p == nullptr && mistake("no ENOMEM")) errno = before;
  if (n == 0 && mistake("size 0 is NULL")) return free(p), nullptr;
  return p;
}
void* calloc(std::size_t n, std::size_t m) {
  if (mistake("calloc multiplies")) return __libc_calloc(1, n * m);
  void* p = __libc_calloc(n, m);
  if (p != nullptr && n * m >= 1000 && mistake("calloc forgets the end"))
    std::memset(static_cast<char*>(p) + n * m - 1, 1, 1);
  return p;
}
void* realloc(void* p, std::size_t n) {
  if (p != nullptr) p = unshifted(p);
  if (n == 0 && p != nullptr && mistake("realloc to 0 is a block")) return __libc_realloc(p, 1);
  void* q = __libc_realloc(p, n);
  if (q != nullptr && p != nullptr && n > 5000 && mistake("realloc loses a byte")) static_cast<char*>(q)[2500] ^= 1;
  return q;
}
void* memalign(std::size_t alignment, std::size_t n) {
  return __libc_memalign(alignment > 4096 && mistake("alignment ends at a page") ? 4096 : alignment, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) { return memalign(alignment, n); }
int posix_memalign(void** out, std::size_t alignment, std::size_t n) {
  const bool odd = alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0;
  if (odd && !mistake("any alignment will do")) return EINVAL;
  void* p = memalign(alignment, n);
  if (p == nullptr) return ENOMEM;
  *out = p;
  return 0;
}
std::size_t malloc_usable_size(void* p) {
  if (p == nullptr) return 0;
  return size_of(unshifted(p)) - (shifted(p) ? 8 : 0) + (mistake("usable size lies") ? 16 : 0);
}
}

void* operator new(std::size_t n) {
  for (;;) {
    if (void* p = malloc(n); p != nullptr) return p;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr || mistake("no new_handler")) throw std::bad_alloc{};
    handler();
    if (mistake("new_handler is called once")) throw std::bad_alloc{};
  }
}
void operator delete(void* p) noexcept { free(p); }
void operator delete(void* p, std::size_t) noexcept { free(p); }
