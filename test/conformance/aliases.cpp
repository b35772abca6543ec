// The second names of the family: what glibc exports as __libc_*, what old programs call, and what C23 adds.
#include "catalogue.hpp"

namespace conformance {
namespace {

using allocate_one = void*(std::size_t);
using allocate_two = void*(std::size_t, std::size_t);
using reallocate_one = void*(void*, std::size_t);
using reallocate_two = void*(void*, std::size_t, std::size_t);
using release_one = void(void*);

// Blocks go in by one name and out by another.
void from_alias(report& r, void* p, std::size_t n) {
  r.outcome("block", p, n);
  if (p == nullptr) return;
  fill(p, n, 4);
  p = subject::realloc(p, 3 * n);
  r.say(holds(p, n, 4) ? "kept by realloc" : "lost by realloc");
  subject::free(p);
}

void libc_malloc(report& r, std::size_t n, std::size_t) {
  auto* f = optional_function<allocate_one>("__libc_malloc");
  if (f == nullptr) return r.say("absent");
  errno = 0;
  from_alias(r, f(n), n);
}
void libc_calloc(report& r, std::size_t n, std::size_t) {
  auto* f = optional_function<allocate_two>("__libc_calloc");
  if (f == nullptr) return r.say("absent");
  void* dirty = subject::malloc(n);
  std::memset(dirty, 0xa5, n);
  subject::free(opaque(dirty));
  errno = 0;
  void* p = f(n, 1);
  r.say(all_zero(p, n) ? "zero" : "not zero");
  from_alias(r, p, n);
}
void libc_realloc(report& r, std::size_t n, std::size_t) {
  auto* f = optional_function<reallocate_one>("__libc_realloc");
  if (f == nullptr) return r.say("absent");
  void* p = subject::malloc(n);
  fill(p, n, 2);
  errno = 0;
  p = f(p, 2 * n);
  r.say(holds(p, n, 2) ? "kept" : "lost");
  from_alias(r, p, 2 * n);
}
void libc_reallocarray(report& r, std::size_t n, std::size_t) {
  auto* f = optional_function<reallocate_two>("__libc_reallocarray");
  if (f == nullptr) return r.say("absent");
  errno = 0;
  from_alias(r, f(nullptr, n, 3), 3 * n);
}
void libc_memalign(report& r, std::size_t n, std::size_t) {
  auto* f = optional_function<allocate_two>("__libc_memalign");
  if (f == nullptr) return r.say("absent");
  errno = 0;
  void* p = f(512, n);
  r.say(aligned_to(p, 512) ? "aligned" : "not aligned");
  from_alias(r, p, n);
}
void libc_pages(report& r, std::size_t n, std::size_t) {
  auto* v = optional_function<allocate_one>("__libc_valloc");
  auto* p = optional_function<allocate_one>("__libc_pvalloc");
  if (v == nullptr || p == nullptr) return r.say("absent");
  errno = 0;
  void* block = v(n);
  r.say(aligned_to(block, 4096) ? "aligned" : "not aligned");
  from_alias(r, block, n);
  errno = 0;
  block = p(n);
  r.say(aligned_to(block, 4096) ? "aligned" : "not aligned");
  from_alias(r, block, n);
}
void frees(report& r, const char* name, std::size_t n) {
  auto* f = optional_function<release_one>(name);
  if (f == nullptr) return r.say("absent");
  for (int i = 0; i < 1000; ++i) {
    void* p = subject::malloc(n);
    fill(p, n < 64 ? n : 64, 1);
    errno = EDOM;
    f(p);
    if (errno != EDOM) return r.say("errno changed");
  }
  f(nullptr);
}
void libc_free(report& r, std::size_t n, std::size_t) { frees(r, "__libc_free", n); }
void cfree(report& r, std::size_t n, std::size_t) { frees(r, "cfree", n); }

void libc_mallopt(report& r, std::size_t, std::size_t) {
  auto* f = optional_function<int(int, int)>("__libc_mallopt");
  if (f == nullptr) return r.say("absent");
  r.say("%d", f(M_MMAP_MAX, 10));
}
void libc_mallinfo(report& r, std::size_t, std::size_t) {
  auto* f = optional_function<struct mallinfo()>("__libc_mallinfo");
  if (f == nullptr) return r.say("absent");
  void* p = subject::malloc(100'000);
  const struct mallinfo now = f();
  r.say(now.uordblks + now.hblkhd >= 100'000 ? "counts" : "does not count");
  subject::free(p);
}

// From here on glibc has nothing to compare with.
void own_posix_memalign(report& r, std::size_t, std::size_t) {
  auto* f = optional_function<int(void**, std::size_t, std::size_t)>("__posix_memalign");
  if (f == nullptr) return r.say("absent");
  void* p = nullptr;
  if (f(&p, 256, 1000) != 0 || !aligned_to(p, 256)) r.say("256 refused or not aligned");
  subject::free(p);
  if (f(&p, 24, 1000) != EINVAL) r.say("24 not refused");
}
void own_free_sized(report& r, std::size_t, std::size_t) {
  auto* f = optional_function<void(void*, std::size_t)>("free_sized");
  if (f == nullptr) return r.say("absent");
  for (std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{100}, std::size_t{1024}, std::size_t{5000},
        std::size_t{40'000}, std::size_t{300'000}, std::size_t{3} << 20, std::size_t{20} << 20})
    for (int i = 0; i < 30; ++i) {
      void* p = i % 3 == 0   ? subject::malloc(n)
                : i % 3 == 1 ? subject::calloc(n, 1)
                             : subject::realloc(subject::malloc(77), n == 0 ? 1 : n);
      if (p == nullptr) return r.say("NULL at %zu: memory is not given back", n);
      errno = EDOM;
      f(p, i % 3 == 2 && n == 0 ? 1 : n);
      if (errno != EDOM) return r.say("errno changed");
    }
  f(nullptr, 0);
  f(nullptr, 100);
}
void own_free_aligned_sized(report& r, std::size_t, std::size_t) {
  auto* f = optional_function<void(void*, std::size_t, std::size_t)>("free_aligned_sized");
  if (f == nullptr) return r.say("absent");
  for (std::size_t a :
       {std::size_t{16}, std::size_t{64}, std::size_t{4096}, std::size_t{65'536}, std::size_t{1} << 20})
    for (std::size_t n : {std::size_t{1}, std::size_t{48}, std::size_t{1000}, std::size_t{40'000},
                          std::size_t{1} << 20, std::size_t{10} << 20})
      for (int i = 0; i < 10; ++i) {
        void* p = subject::aligned_alloc(a, n);
        if (p == nullptr) return r.say("NULL at %zu: memory is not given back", n);
        errno = EDOM;
        f(p, a, n);
        if (errno != EDOM) return r.say("errno changed");
      }
  f(nullptr, 64, 100);
}

}  // namespace

void add_aliases(catalogue& table) {
  for (std::size_t n : {std::size_t{24}, std::size_t{5000}, std::size_t{300'000}, std::size_t{3} << 20}) {
    table.add(libc_malloc, n, 0, "__libc_malloc %zu", n);
    table.add(libc_calloc, n, 0, "__libc_calloc %zu", n);
    table.add(libc_realloc, n, 0, "__libc_realloc %zu", n);
    table.add(libc_reallocarray, n, 0, "__libc_reallocarray %zu", n);
    table.add(libc_memalign, n, 0, "__libc_memalign %zu", n);
    table.add(libc_pages, n, 0, "__libc_valloc, __libc_pvalloc %zu", n);
    table.add(libc_free, n, 0, "__libc_free %zu", n);
    table.under(setting::plain, judge::itself);  // in glibc for old programs only: dlsym does not show it
    table.add(cfree, n, 0, "cfree %zu", n);
    table.under(setting::plain);
  }
  table.add(libc_mallopt, 0, 0, "__libc_mallopt");
  table.add(libc_mallinfo, 0, 0, "__libc_mallinfo");
  table.under(setting::limited, judge::itself);
  table.add(own_posix_memalign, 0, 0, "__posix_memalign");
  table.add(own_free_sized, 0, 0, "free_sized");
  table.add(own_free_aligned_sized, 0, 0, "free_aligned_sized");
  table.under(setting::plain);
}

}  // namespace conformance
