// Zero sizes, sizes no system can serve, and products that overflow.
#include <cstdint>

#include "catalogue.hpp"

namespace conformance {
namespace {

struct named_call {
  const char* name;
  void* (*call)(std::size_t n);
};

void* by_posix_memalign(std::size_t alignment, std::size_t n) {
  void* p = nullptr;
  const int e = subject::posix_memalign(&p, alignment, n);
  errno = e;  // POSIX leaves errno alone or not as it likes: the return value is the answer
  return p;
}

constexpr named_call calls[] = {
    {"malloc", [](std::size_t n) { return subject::malloc(n); }},
    {"calloc(1,n)", [](std::size_t n) { return subject::calloc(1, n); }},
    {"calloc(n,1)", [](std::size_t n) { return subject::calloc(n, 1); }},
    {"realloc(NULL,n)", [](std::size_t n) { return subject::realloc(nullptr, n); }},
    {"reallocarray(NULL,1,n)", [](std::size_t n) { return subject::reallocarray(nullptr, 1, n); }},
    {"reallocarray(NULL,n,1)", [](std::size_t n) { return subject::reallocarray(nullptr, n, 1); }},
    {"aligned_alloc(16,n)", [](std::size_t n) { return subject::aligned_alloc(16, n); }},
    {"aligned_alloc(4096,n)", [](std::size_t n) { return subject::aligned_alloc(4096, n); }},
    {"memalign(64,n)", [](std::size_t n) { return subject::memalign(64, n); }},
    {"memalign(1M,n)", [](std::size_t n) { return subject::memalign(1 << 20, n); }},
    {"posix_memalign(64,n)", [](std::size_t n) { return by_posix_memalign(64, n); }},
    {"valloc", [](std::size_t n) { return subject::valloc(n); }},
    {"pvalloc", [](std::size_t n) { return subject::pvalloc(n); }},
};

// Two live blocks of size 0 are two blocks; they can be freed and their usable size can be asked.
void zero_size(report& r, std::size_t which, std::size_t) {
  errno = 0;
  void* p = calls[which].call(0);
  r.outcome("first", p, 0);
  errno = 0;
  void* q = calls[which].call(0);
  r.outcome("second", q, 0);
  r.say(p != q ? "they differ" : "they are the same");
  fill(p, subject::usable(p), 1);
  fill(q, subject::usable(q), 2);
  subject::free(p);
  subject::free(q);
}

void too_large(report& r, std::size_t which, std::size_t n) {
  errno = 0;
  void* p = calls[which].call(n);
  r.outcome("too large", p, n);
  subject::free(p);
}

// A realloc that fails leaves the block as it was, and it can still be freed.
void failing_realloc(report& r, std::size_t n, std::size_t old) {
  void* p = subject::malloc(old);
  fill(p, old, 3);
  errno = 0;
  void* q = subject::realloc(p, n);
  r.outcome("realloc", q, n);
  r.say(holds(p, old, 3) ? "old block intact" : "old block damaged");
  errno = 0;
  q = subject::reallocarray(p, n, 1);
  r.outcome("reallocarray", q, n);
  r.say(holds(p, old, 3) ? "old block intact" : "old block damaged");
  subject::free(p);
}

void calloc_overflow(report& r, std::size_t n, std::size_t m) {
  errno = 0;
  void* p = subject::calloc(n, m);
  r.outcome("calloc", p, 0);
}
void reallocarray_overflow(report& r, std::size_t n, std::size_t m) {
  errno = 0;
  r.outcome("of NULL", subject::reallocarray(nullptr, n, m), 0);
  void* p = subject::malloc(100);
  fill(p, 100, 5);
  errno = 0;
  r.outcome("of a block", subject::reallocarray(p, n, m), 0);
  r.say(holds(p, 100, 5) ? "old block intact" : "old block damaged");
  subject::free(p);
}

void realloc_to_zero(report& r, std::size_t n, std::size_t) {
  void* p = subject::malloc(n);
  errno = EDOM;
  p = subject::realloc(p, 0);
  r.outcome("realloc(p,0)", p, 0);  // glibc frees and answers NULL; errno is not touched
  void* q = subject::malloc(n);
  errno = EDOM;
  q = subject::reallocarray(q, 0, 7);
  r.outcome("reallocarray(p,0,7)", q, 0);
  q = subject::malloc(n);
  errno = EDOM;
  q = subject::reallocarray(q, 7, 0);
  r.outcome("reallocarray(p,7,0)", q, 0);
}

}  // namespace

void add_sizes(catalogue& table) {
  constexpr std::size_t count = sizeof calls / sizeof calls[0];
  for (std::size_t i = 0; i < count; ++i) table.add(zero_size, i, 0, "size 0: %s", calls[i].name);

  struct {
    const char* name;
    std::size_t n;
  } const sizes[] = {{"2^47", std::size_t{1} << 47},
                     {"2^62", std::size_t{1} << 62},
                     {"PTRDIFF_MAX", PTRDIFF_MAX},
                     {"PTRDIFF_MAX+1", std::size_t{PTRDIFF_MAX} + 1},
                     {"SIZE_MAX-8191", SIZE_MAX - 8191},
                     {"SIZE_MAX-15", SIZE_MAX - 15},
                     {"SIZE_MAX", SIZE_MAX}};
  for (const auto& s : sizes)
    for (std::size_t i = 0; i < count; ++i) table.add(too_large, i, s.n, "n=%s: %s", s.name, calls[i].name);
  for (const auto& s : sizes)
    for (std::size_t old : {std::size_t{1}, std::size_t{1000}, std::size_t{300'000}, std::size_t{3} << 20})
      table.add(failing_realloc, s.n, old, "realloc of %zu to %s fails", old, s.name);

  constexpr std::size_t two32 = std::size_t{1} << 32;
  struct {
    const char* name;
    std::size_t n, m;
  } const products[] = {{"SIZE_MAX*2", SIZE_MAX, 2},
                        {"2*SIZE_MAX", 2, SIZE_MAX},
                        {"2^32*2^32", two32, two32},
                        {"(2^32+1)*(2^32-1)", two32 + 1, two32 - 1},
                        {"2^63*2", std::size_t{1} << 63, 2},
                        {"3*(SIZE_MAX/3+1)", 3, SIZE_MAX / 3 + 1},
                        {"SIZE_MAX*SIZE_MAX", SIZE_MAX, SIZE_MAX},
                        {"PTRDIFF_MAX*2", PTRDIFF_MAX, 2}};
  for (const auto& p : products) {
    table.add(calloc_overflow, p.n, p.m, "calloc overflow %s", p.name);
    table.add(reallocarray_overflow, p.n, p.m, "reallocarray overflow %s", p.name);
  }
  for (std::size_t n :
       {std::size_t{1}, std::size_t{100}, std::size_t{5000}, std::size_t{100'000}, std::size_t{5} << 20})
    table.add(realloc_to_zero, n, 0, "realloc(p,0) of %zu", n);
}

}  // namespace conformance
