// Alignment: 16 at every size, every alignment that is asked for, and what is not an alignment.
#include <unistd.h>

#include <bit>
#include <cstdint>

#include "catalogue.hpp"

namespace conformance {
namespace {

// malloc, calloc and realloc at one size: 16-aligned, as large as asked, and apart from its neighbour.
const char* wrong_at(std::size_t n) {
  void* p[] = {subject::malloc(n), subject::calloc(1, n), subject::realloc(nullptr, n), subject::malloc(n)};
  const char* wrong = nullptr;
  for (std::size_t i = 0; i < 4; ++i) {
    if (p[i] == nullptr) return "NULL";
    if (!aligned_to(p[i], 16)) wrong = "not 16-aligned";
    if (subject::usable(p[i]) < n) wrong = "usable < n";
  }
  const std::size_t checked = n < 5000 ? n : 5000;
  for (std::size_t i = 0; i < 4; ++i) {
    fill(p[i], checked, i);
    fill(static_cast<char*>(p[i]) + n - checked, checked, i);
  }
  for (std::size_t i = 0; i < 4; ++i)
    if (!holds(static_cast<char*>(p[i]) + n - checked, checked, i)) wrong = "overlaps another";
  for (std::size_t i = 0; i < 4; ++i) subject::free(p[i]);
  return wrong;
}

void every_size(report& r, std::size_t from, std::size_t to) {
  for (std::size_t n = from; n < to; ++n)
    if (const char* wrong = wrong_at(n)) return r.say("size %zu: %s", n, wrong);
}

// An octave is where the class sizes lie: its eighths, and a few bytes to either side.
void class_edges(report& r, std::size_t octave, std::size_t) {
  for (std::size_t eighth = 8; eighth < 16; ++eighth)
    for (std::ptrdiff_t off : {-17, -16, -1, 0, 1, 16})
      if (const std::size_t n = octave / 8 * eighth + static_cast<std::size_t>(off); true)
        if (const char* wrong = wrong_at(n)) return r.say("size %zu: %s", n, wrong);
}

struct aligned_call {
  const char* name;
  void* (*get)(std::size_t alignment, std::size_t n);
  void (*put)(void* p, std::size_t alignment, std::size_t n);
};
constexpr aligned_call aligned_calls[] = {
    {"aligned_alloc", [](std::size_t a, std::size_t n) { return subject::aligned_alloc(a, n); },
     [](void* p, std::size_t, std::size_t) { subject::free(p); }},
    {"memalign", [](std::size_t a, std::size_t n) { return subject::memalign(a, n); },
     [](void* p, std::size_t, std::size_t) { subject::free(p); }},
    {"posix_memalign",
     [](std::size_t a, std::size_t n) {
       void* p = nullptr;
       errno = subject::posix_memalign(&p, a, n);
       return p;
     },
     [](void* p, std::size_t, std::size_t) { subject::free(p); }},
    {"new(align_val_t)",
     [](std::size_t a, std::size_t n) { return subject::new_plain(n, std::align_val_t(a), std::nothrow); },
     [](void* p, std::size_t a, std::size_t n) { ::operator delete(p, n, std::align_val_t(a)); }},
};

void alignment_times_sizes(report& r, std::size_t which, std::size_t a) {
  const aligned_call& call = aligned_calls[which];
  const std::size_t sizes[] = {0,    1,    7,    8,    24,        a - 1,     a,          a + 1,   3 * a,
                               4095, 4096, 4097, 9000, 32 * 1024, 65 * 1024, 300 * 1024, 1 << 20, 5 << 19};
  constexpr std::size_t count = sizeof sizes / sizeof sizes[0];
  void* p[count] = {};
  for (std::size_t i = 0; i < count; ++i) {
    errno = 0;
    p[i] = call.get(a, sizes[i]);
    if (p[i] == nullptr && sizes[i] == 0) {
      r.say("size 0: NULL");
      continue;
    }
    if (p[i] == nullptr) {  // posix_memalign asks for at least a pointer's alignment
      r.say("size %zu: NULL, %s", sizes[i], errno == 0 ? "0" : ::strerrorname_np(errno));
      for (std::size_t k = 0; k < i; ++k) call.put(p[k], a, sizes[k]);
      return;
    }
    if (!aligned_to(p[i], a)) r.say("size %zu: not aligned", sizes[i]);
    if (subject::usable(p[i]) < sizes[i]) r.say("size %zu: usable < n", sizes[i]);
    fill(p[i], sizes[i], i);
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!holds(p[i], sizes[i], i)) r.say("size %zu: overlaps another", sizes[i]);
  for (std::size_t i = 0; i < count; i += 2) call.put(p[i], a, sizes[i]);
  for (std::size_t i = 1; i < count; i += 2) {
    if (!holds(p[i], sizes[i], i)) r.say("size %zu: damaged by a neighbour's free", sizes[i]);
    call.put(p[i], a, sizes[i]);
  }
}

void posix_einval(report& r, std::size_t alignment, std::size_t) {
  int marker = 0;
  void* p = &marker;
  const int e = subject::posix_memalign(&p, alignment, 40);
  r.say("%s, %s", e == 0 ? "0" : ::strerrorname_np(e), p == &marker ? "pointer untouched" : "pointer changed");
  if (p != &marker) subject::free(p);
}
void memalign_odd(report& r, std::size_t alignment, std::size_t n) {
  errno = 0;
  void* p = subject::memalign(alignment, n);
  r.outcome("memalign", p, n);
  // glibc rounds up to the next power of two
  if (p != nullptr && alignment < 1 << 20)
    r.say(aligned_to(p, std::bit_ceil(alignment)) ? "aligned to the next power of two" : "aligned less");
  subject::free(p);
}
void aligned_alloc_odd(report& r, std::size_t alignment, std::size_t n) {
  // C leaves this open, and glibc changed its answer in 2.38 (round up, then EINVAL): both are right.
  errno = 0;
  void* p = subject::aligned_alloc(alignment, n);
  const bool refused = p == nullptr && errno == EINVAL;
  const bool rounded = p != nullptr && aligned_to(p, std::bit_ceil(alignment));
  r.say(refused || rounded ? "refused or rounded up" : "neither refused nor rounded up");
  subject::free(p);
}
void aligned_alloc_uneven(report& r, std::size_t alignment, std::size_t n) {
  errno = 0;
  void* p = subject::aligned_alloc(alignment, n);
  r.outcome("aligned_alloc", p, n);
  r.say(aligned_to(p, alignment) ? "aligned" : "not aligned");
  subject::free(p);
}
void page_calls(report& r, std::size_t n, std::size_t) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  errno = 0;
  void* p = subject::valloc(n);
  r.outcome("valloc", p, n);
  r.say(aligned_to(p, page) ? "on a page" : "not on a page");
  errno = 0;
  void* q = subject::pvalloc(n);
  r.outcome("pvalloc", q, (n + page - 1) / page * page);  // rounds the size up to whole pages
  r.say(aligned_to(q, page) ? "on a page" : "not on a page");
  fill(p, n, 1);
  fill(q, (n + page - 1) / page * page, 2);
  r.say(holds(p, n, 1) ? "kept" : "overlap");
  subject::free(p);
  subject::free(q);
}

void realloc_of_aligned(report& r, std::size_t which, std::size_t a) {
  const aligned_call& call = aligned_calls[which];
  for (std::size_t n : {std::size_t{1}, std::size_t{40}, std::size_t{1000}, a, 2 * a + 24, std::size_t{70'000},
                        std::size_t{2} << 20})
    for (std::size_t m : {std::size_t{1}, n / 2 + 1, n + 1, 2 * n + 100, std::size_t{5000}, std::size_t{400'000}}) {
      void* p = call.get(a, n);
      if (p == nullptr) return r.say("NULL");
      fill(p, n, 9);
      void* q = subject::realloc(p, m);
      if (q == nullptr) return r.say("realloc %zu to %zu: NULL", n, m);
      if (!holds(q, n < m ? n : m, 9)) r.say("realloc %zu to %zu: contents lost", n, m);
      if (!aligned_to(q, 16)) r.say("realloc %zu to %zu: not 16-aligned", n, m);
      if (subject::usable(q) < m) r.say("realloc %zu to %zu: usable < n", n, m);
      subject::free(q);
    }
}

}  // namespace

void add_alignments(catalogue& table) {
  for (std::size_t n = 0; n < 4096; n += 256)
    table.add(every_size, n, n + 256, "16-aligned: sizes %zu to %zu", n, n + 255);
  table.add(every_size, 4096, 4097, "16-aligned: size 4096");
  for (std::size_t octave = 4096; octave <= std::size_t{64} << 20; octave *= 2)
    table.add(class_edges, octave, 0, "16-aligned: class edges from %zu", octave);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t a = 1; a <= 1 << 20; a *= 2)
      table.add(alignment_times_sizes, i, a, "%s: alignment %zu, all sizes", aligned_calls[i].name, a);
  for (std::size_t a : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4},
                        std::size_t{7}, std::size_t{8}, std::size_t{12}, std::size_t{24}, std::size_t{48},
                        std::size_t{4095}, std::size_t{4097}, std::size_t{SIZE_MAX}, std::size_t{SIZE_MAX - 7}})
    table.add(posix_einval, a, 0, "posix_memalign(%zu) of 40", a);
  for (std::size_t a : {std::size_t{0}, std::size_t{3}, std::size_t{5}, std::size_t{24}, std::size_t{48},
                        std::size_t{100}, std::size_t{4097}, std::size_t{65'000}}) {
    table.add(memalign_odd, a, 40, "memalign(%zu) of 40", a);
    table.add(memalign_odd, a, 100'000, "memalign(%zu) of 100000", a);
    table.add(aligned_alloc_odd, a, 40, "aligned_alloc(%zu) of 40", a);
  }
  table.add(memalign_odd, std::size_t{1} << 63, 40, "memalign(2^63) of 40");
  table.add(memalign_odd, (std::size_t{1} << 63) + 1, 40, "memalign(2^63+1) of 40");
  table.add(memalign_odd, SIZE_MAX, 40, "memalign(SIZE_MAX) of 40");
  table.add(memalign_odd, std::size_t{1} << 62, 40, "memalign(2^62) of 40");
  for (std::size_t a : {std::size_t{32}, std::size_t{64}, std::size_t{4096}})
    table.add(aligned_alloc_uneven, a, a + a / 2 + 1, "aligned_alloc(%zu), size not a multiple", a);
  for (std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{4096}, std::size_t{4097}, std::size_t{70'000},
                        std::size_t{3} << 20})
    table.add(page_calls, n, 0, "valloc and pvalloc of %zu", n);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t a : {std::size_t{64}, std::size_t{4096}, std::size_t{65'536}, std::size_t{1} << 20})
      table.add(realloc_of_aligned, i, a, "realloc of a block from %s(%zu)", aligned_calls[i].name, a);
}

}  // namespace conformance
