// A malloc over glibc's with one mistake, named by the environment variable MISTAKE; "none" makes none, and under a name that
// is no mistake's nothing runs. The probe of this
// suite and those of ../conform must find every one of them.
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);
}

namespace {

constexpr const char* mistakes[] = {
    "none",
    "16 bytes are 8-aligned",
    "500 threads are enough",
    "8 bytes are 8-aligned",
    "a failed realloc writes",
    "a page is a line",
    "a small address space is refused",
    "a thread's heap ends with its key",
    "a thread's heap ends with its thread_locals",
    "alignment ends at a line",
    "alignment ends at a page",
    "any alignment will do",
    "blocks are 16 bytes short",
    "calloc forgets the end",
    "calloc multiplies",
    "cfree changes errno",
    "dlclose ends the heap",
    "each thread keeps 64 KiB",
    "exit ends the heap",
    "fork handlers of a constructor",
    "fork handlers of the second thread",
    "free changes errno",
    "free(NULL) aborts",
    "frees by the main thread are lost",
    "huge is small",
    "its destructor ends the heap",
    "large blocks are not freed",
    "mallinfo counts nothing",
    "mallinfo counts twice",
    "mallinfo only grows",
    "malloc is a cancellation point",
    "malloc_info is silent",
    "malloc_stats is silent",
    "malloc_trim does nothing",
    "mallopt answers -1",
    "mallopt refuses",
    "mistakes are not noticed",
    "new answers NULL",
    "new_handler is called once",
    "no ENOMEM",
    "no heap before its constructor",
    "no heap in a child",
    "no memory is an abort",
    "no new_handler",
    "nothing is freed",
    "one lock, forgotten at fork",
    "realloc loses a byte",
    "realloc to 0 is a block",
    "reallocarray multiplies",
    "size 0 is NULL",
    "size 0 is one block",
    "sized frees do nothing",
    "sizes have 32 bits",
    "success changes errno",
    "usable size lies",
    "usable size of NULL is 10",
};
constexpr int no_such_mistake = 98;  // the exit status, which no probe has

// A name that stands in the code is one of them: what is not does not compile.
struct known {
  int number = 0;
  consteval known(const char* name) {
    while (std::string_view(mistakes[number]) != name) ++number;
  }
};

int chosen() {
  for (char** e = environ; e != nullptr && *e != nullptr; ++e) {
    if (std::strncmp(*e, "MISTAKE=", 8) != 0) continue;
    for (int number = 0; const char* name : mistakes) {
      if (std::strcmp(*e + 8, name) == 0) return number;
      ++number;
    }
    constexpr std::string_view words = "broken_malloc: there is no such mistake\n";
    [[maybe_unused]] const auto written = ::write(2, words.data(), words.size());
    ::_exit(no_such_mistake);
  }
  return 0;
}
bool mistake(known asked) {
  static std::atomic<int> made{-1};
  int now = made.load(std::memory_order_relaxed);
  if (now < 0) made.store(now = chosen(), std::memory_order_relaxed);
  return now == asked.number;
}
// What glibc keeps in front of a block: its size and three flags.
std::size_t size_of(void* p) {
  const std::size_t word = static_cast<std::size_t*>(p)[-1];
  return (word & ~std::size_t{7}) - ((word & 2) != 0 ? 16 : 8);
}
bool shifted(void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 8; }
void* unshifted(void* p) { return shifted(p) ? static_cast<char*>(p) - 8 : p; }

// Stages of a process and of a thread, and how a malloc may come to believe that it is at its end.
const pid_t born_as = ::getpid();
bool constructed, ended;
std::atomic<int> threads_seen{0}, calls{0};
thread_local bool seen [[gnu::tls_model("initial-exec")]], over [[gnu::tls_model("initial-exec")]];
pthread_key_t end_of_thread;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void take_lock() { ::pthread_mutex_lock(&lock); }
void leave_lock() { ::pthread_mutex_unlock(&lock); }
alignas(16) char one_block[16];

[[gnu::constructor]] void begin() {
  constructed = true;
  ::pthread_key_create(&end_of_thread, [](void*) { over = true; });
  if (mistake("fork handlers of a constructor")) ::pthread_atfork(take_lock, leave_lock, leave_lock);
}
[[gnu::destructor]] void end() { ended = mistake("its destructor ends the heap"); }

// What a thread's first call does.
void first_call() {
  seen = true;
  const int n = ++threads_seen;
  if (mistake("a thread's heap ends with its key")) ::pthread_setspecific(end_of_thread, &over);
  if (mistake("each thread keeps 64 KiB") && n > 1) std::memset(__libc_malloc(64 << 10), 1, 64 << 10);
  if (n == 2 && mistake("fork handlers of the second thread")) ::pthread_atfork(take_lock, leave_lock, leave_lock);
}

// True where there shall be no block.
bool refused(std::size_t n) {
  if (!constructed) return mistake("no heap before its constructor");
  if (!seen) first_call();
  if (ended || over) std::abort();
  if (mistake("malloc is a cancellation point")) ::pthread_testcancel();
  if (mistake("exit ends the heap") && calls.fetch_add(1) == 400) std::atexit([] { ended = true; });
  if (mistake("no heap in a child") && ::getpid() != born_as) return true;
  if (mistake("500 threads are enough") && threads_seen > 500) return true;
  return mistake("a small address space is refused") && n < 4096 && calls.fetch_add(1) > 100'000;
}
bool is_locking() {
  return mistake("one lock, forgotten at fork") || mistake("fork handlers of a constructor") ||
         mistake("fork handlers of the second thread");
}
struct locked {
  bool is = is_locking();
  locked() {
    if (is) take_lock();
  }
  ~locked() {
    if (is) leave_lock();
  }
};
std::size_t changed_size(std::size_t n) {
  if (n > PTRDIFF_MAX && mistake("huge is small")) return 16;
  if (n > 100 && mistake("blocks are 16 bytes short")) return n - 16;
  if (mistake("sizes have 32 bits")) return static_cast<std::uint32_t>(n);
  return n;
}

}  // namespace

extern "C" {

void free(void* p) {
  if (p == nullptr) {
    if (mistake("free(NULL) aborts")) std::abort();
    return;
  }
  if (p == one_block) return;
  const locked here;
  p = unshifted(p);
  if (mistake("nothing is freed") || (mistake("mistakes are not noticed"))) return;
  if (mistake("frees by the main thread are lost") && ::gettid() == ::getpid()) return;
  if (mistake("large blocks are not freed") && size_of(p) >= 1 << 20) return;
  const bool large = size_of(p) > 100'000;
  __libc_free(p);
  if (large && mistake("free changes errno")) errno = 0;
}
void cfree(void* p) {
  free(p);
  if (mistake("cfree changes errno")) errno = 0;
}
void free_sized(void* p, std::size_t) {
  if (!mistake("sized frees do nothing")) free(p);
}
void free_aligned_sized(void* p, std::size_t, std::size_t) {
  if (!mistake("sized frees do nothing")) free(p);
}
void* malloc(std::size_t n) {
  const locked here;
  if (refused(n)) return errno = ENOMEM, nullptr;
  if (n <= 8 && mistake("8 bytes are 8-aligned")) return static_cast<char*>(__libc_malloc(n + 8)) + 8;
  if (n == 16 && mistake("16 bytes are 8-aligned")) return static_cast<char*>(__libc_malloc(n + 8)) + 8;
  if (n == 0 && mistake("size 0 is one block")) return one_block;
  const int before = errno;
  void* p = __libc_malloc(changed_size(n));
  if (p != nullptr && mistake("success changes errno")) errno = EAGAIN;
  if (p == nullptr && mistake("no memory is an abort")) std::abort();
  if (p == nullptr && mistake("no ENOMEM")) errno = before;
  if (n == 0 && mistake("size 0 is NULL")) return free(p), nullptr;
  return p;
}
void* calloc(std::size_t n, std::size_t m) {
  const locked here;
  if (refused(n * m)) return errno = ENOMEM, nullptr;
  if (mistake("calloc multiplies")) return __libc_calloc(1, n * m);
  void* p = __libc_calloc(n, m);
  if (p != nullptr && n * m >= 1000 && mistake("calloc forgets the end"))
    std::memset(static_cast<char*>(p) + n * m - 1, 1, 1);
  return p;
}
void* realloc(void* p, std::size_t n) {
  if (p == one_block) p = nullptr;
  const locked here;
  if (refused(n)) return errno = ENOMEM, nullptr;
  if (p != nullptr) p = unshifted(p);
  if (n == 0 && p != nullptr && mistake("realloc to 0 is a block")) return __libc_realloc(p, 1);
  void* q = __libc_realloc(p, n);
  if (q == nullptr && n != 0 && mistake("no memory is an abort")) std::abort();
  if (q == nullptr && p != nullptr && n != 0 && mistake("a failed realloc writes")) *static_cast<char*>(p) ^= 1;
  if (q != nullptr && p != nullptr && n > 5000 && mistake("realloc loses a byte")) static_cast<char*>(q)[2500] ^= 1;
  return q;
}
void* reallocarray(void* p, std::size_t n, std::size_t m) {
  std::size_t all = n * m;
  if (__builtin_mul_overflow(n, m, &all) && !mistake("reallocarray multiplies")) return errno = ENOMEM, nullptr;
  return realloc(p, all);
}
void* memalign(std::size_t alignment, std::size_t n) {
  if (alignment > 4096 && mistake("alignment ends at a page")) alignment = 4096;
  if (alignment > 64 && mistake("alignment ends at a line")) alignment = 64;
  return __libc_memalign(alignment, changed_size(n));
}
void* valloc(std::size_t n) { return memalign(mistake("a page is a line") ? 64 : 4096, n); }
void* pvalloc(std::size_t n) {
  if (n > SIZE_MAX - 4095) return errno = ENOMEM, nullptr;
  return valloc((n + 4095) / 4096 * 4096);
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
  if (p == nullptr) return mistake("usable size of NULL is 10") ? 10 : 0;
  return size_of(unshifted(p)) - (shifted(p) ? 8 : 0) + (mistake("usable size lies") ? 16 : 0);
}

// The next one of that name: glibc's.
#define NEXT(name) reinterpret_cast<decltype(&name)>(::dlsym(RTLD_NEXT, #name))
int mallopt(int parameter, int value) {
  if (mistake("mallopt answers -1")) return -1;
  return mistake("mallopt refuses") ? 0 : NEXT(mallopt)(parameter, value);
}
struct mallinfo2 mallinfo2() {
  static std::size_t last = 0;
  struct mallinfo2 now = mistake("mallinfo counts nothing") ? (struct mallinfo2){} : NEXT(mallinfo2)();
  if (mistake("mallinfo counts twice")) now.uordblks += now.hblkhd;
  if (mistake("mallinfo only grows")) now.uordblks = last = std::max(now.uordblks, last + 1);
  return now;
}
int malloc_trim(std::size_t pad) {
  return mistake("malloc_trim does nothing") || mistake("nothing is freed") ? 0 : NEXT(malloc_trim)(pad);
}
int malloc_info(int options, std::FILE* out) {
  return mistake("malloc_info is silent") ? 0 : NEXT(malloc_info)(options, out);
}
void malloc_stats() {
  if (!mistake("malloc_stats is silent")) NEXT(malloc_stats)();
}
int dlclose(void* library) {
  ended = mistake("dlclose ends the heap");
  return NEXT(dlclose)(library);
}
// Destructors of thread locals are registered here.
int __cxa_thread_atexit(void (*destructor)(void*), void* object, void* library) {
  if (!mistake("a thread's heap ends with its thread_locals"))
    return __cxa_thread_atexit_impl(destructor, object, library);
  struct call {
    void (*destructor)(void*);
    void* object;
  };
  auto* kept = new (__libc_malloc(sizeof(call))) call{destructor, object};
  return __cxa_thread_atexit_impl(
      [](void* p) {
        over = true;
        static_cast<call*>(p)->destructor(static_cast<call*>(p)->object);
      },
      kept, library);
}
}

void* operator new(std::size_t n) {
  void* volatile none = nullptr;
  for (;;) {
    if (void* p = malloc(n); p != nullptr) return p;
    if (mistake("new answers NULL")) return none;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr || mistake("no new_handler")) throw std::bad_alloc{};
    handler();
    if (mistake("new_handler is called once")) throw std::bad_alloc{};
  }
}
void operator delete(void* p) noexcept { free(p); }
void operator delete(void* p, std::size_t) noexcept { free(p); }
