// No memory left: NULL and ENOMEM or bad_alloc, never an abort; what is allocated stays whole; and once it is freed, all
// of it can be had again. Every case runs in a program started under RLIMIT_AS of 64 MiB.
//
// How much fits under the limit is each allocator's own affair, but an allocator that refuses the first third of it is
// not out of memory.
#include <sys/resource.h>

#include <csignal>
#include <new>
#include <string>
#include <vector>

#include "catalogue.hpp"

namespace conformance {
namespace {

constexpr std::size_t limit = std::size_t{64} << 20;
constexpr std::size_t enough = limit / 3;

struct way {
  const char* name;
  void* (*get)(std::size_t n);
};
constexpr way ways[] = {
    {"malloc", [](std::size_t n) { return subject::malloc(n); }},
    {"calloc", [](std::size_t n) { return subject::calloc(1, n); }},
    {"realloc", [](std::size_t n) { return subject::realloc(nullptr, n); }},
    {"memalign(64)", [](std::size_t n) { return subject::memalign(64, n); }},
    {"posix_memalign(4096)",
     [](std::size_t n) {
       void* p = nullptr;
       const int e = subject::posix_memalign(&p, 4096, n);
       if (e != 0) errno = e;
       return p;
     }},
    {"new",
     [](std::size_t n) -> void* {
       try {
         return subject::new_plain(n);
       } catch (const std::bad_alloc&) {
         errno = ENOMEM;
         return nullptr;
       }
     }},
    {"new nothrow",
     [](std::size_t n) {
       void* p = subject::new_plain(n, std::nothrow);
       if (p == nullptr) errno = ENOMEM;
       return p;
     }},
};

// The blocks are kept in a list that runs through themselves: the test needs no memory of its own.
struct link {
  link* next;
};
link* take_all(report& r, const way& w, std::size_t n, std::size_t& bytes) {
  link* head = nullptr;
  bytes = 0;
  for (;;) {
    errno = 0;
    void* p = w.get(n);
    if (p == nullptr) break;
    std::memset(p, 0x5a, n);
    head = new (p) link{head};
    bytes += n;
    if (bytes > 2 * limit) {
      r.say("the limit is not felt");
      break;
    }
  }
  if (errno != ENOMEM) r.say("errno %s at the end", errno == 0 ? "0" : ::strerrorname_np(errno));
  return head;
}
void check_and_free(report& r, link* head, std::size_t n) {
  bool whole = true;
  while (head != nullptr) {
    link* next = head->next;
    auto* bytes = reinterpret_cast<unsigned char*>(head);
    for (std::size_t i = sizeof(link); i<n; i += n> 4096 ? 509 : 1) whole = whole && bytes[i] == 0x5a;
    subject::free(head);
    head = next;
  }
  if (!whole) r.say("a block was damaged");
}
void exhaust(report& r, std::size_t which, std::size_t n) {
  for (int round = 1; round <= 3; ++round) {
    std::size_t bytes = 0;
    link* head = take_all(r, ways[which], n, bytes);
    // alignment wastes what lies between the blocks: a block of 64 bytes on a page of its own is a page
    const bool wasteful = which == 3 || which == 4;
    const std::size_t expected = !wasteful ? enough : n >= 1000 && n < 1 << 20 ? limit / 10 : 1;
    if (bytes < expected) r.say("round %d: only %zu MiB of 64", round, bytes >> 20);
    for (int again = 0; again < 200; ++again) {  // asking on and on is answered on and on
      errno = 0;
      void* p = ways[which].get(n);
      if (p == nullptr && errno != ENOMEM) r.say("asked again: errno %d", errno);
      if (p != nullptr) {
        std::memset(p, 0x5a, n);
        head = new (p) link{head};
      }
    }
    check_and_free(r, head, n);
  }
}

// What one size gave back serves another.
void exhaust_then_other(report& r, std::size_t first, std::size_t second) {
  for (int round = 1; round <= 3; ++round) {
    std::size_t bytes = 0;
    check_and_free(r, take_all(r, ways[0], first, bytes), first);
    if (bytes < enough) r.say("round %d: only %zu MiB of 64 in blocks of %zu", round, bytes >> 20, first);
    check_and_free(r, take_all(r, ways[0], second, bytes), second);
    if (bytes < enough) r.say("round %d: only %zu MiB of 64 in blocks of %zu", round, bytes >> 20, second);
  }
}

// A realloc that cannot grow keeps its block.
void grow_until_full(report& r, std::size_t step, std::size_t) {
  std::size_t n = 1000;
  void* p = subject::malloc(n);
  fill(p, n, 1);
  void* q = nullptr;
  for (;;) {
    errno = 0;
    q = subject::realloc(p, n + step);
    if (q == nullptr) break;
    p = q;
    n += step;
    if (n > 2 * limit) return r.say("the limit is not felt");
  }
  r.say("errno %s", ::strerrorname_np(errno));
  if (!holds(p, 1000, 1)) r.say("the block was damaged");
  if (n < limit / 5) r.say("only %zu MiB", n >> 20);  // old and new may have to stand side by side
  std::memset(p, 2, n);
  p = subject::realloc(p, 10);
  if (p == nullptr) r.say("cannot shrink");
  subject::free(p);
  p = subject::malloc(limit / 4);
  r.say(p != nullptr ? "recovered" : "not recovered");
  subject::free(p);
}

// One request larger than the limit is refused while small ones go on.
void one_too_large(report& r, std::size_t n, std::size_t) {
  for (int i = 0; i < 50; ++i) {
    errno = 0;
    void* p = subject::malloc(n);
    if (p != nullptr || errno != ENOMEM) r.say("malloc(%zu) not refused", n);
    void* small = subject::malloc(1000);
    if (small == nullptr) r.say("small refused");
    subject::free(small);
  }
}

// libc and the standard library live through it too.
void library_at_the_end(report& r, std::size_t, std::size_t) {
  std::size_t bytes = 0;
  link* head = take_all(r, ways[0], 1 << 16, bytes);
  link* small = take_all(r, ways[0], 64, bytes);
  link* large = take_all(r, ways[0], 1 << 12, bytes);
  char* text = nullptr;
  if (::asprintf(&text, "%5000d", 1) >= 0) subject::free(text);  // either answer will do
  int thrown = 0;
  std::vector<std::string> many;
  try {
    for (;;) many.emplace_back(20'000, 'x');
  } catch (const std::bad_alloc&) {
    ++thrown;
  }
  r.say("bad_alloc %d", thrown);
  many.clear();
  check_and_free(r, head, 1 << 16);
  check_and_free(r, small, 64);
  check_and_free(r, large, 1 << 12);
  const int n = ::asprintf(&text, "%5000d", 1);
  r.say("afterwards %d", n);
  subject::free(text);
}

// A program that limits itself while it runs expects the same as one that was started so.
void limit_set_while_running(report& r, std::size_t n, std::size_t) {
  void* warm = subject::malloc(1 << 20);
  std::memset(warm, 1, 1 << 20);
  const rlimit now{limit, limit};
  if (::setrlimit(RLIMIT_AS, &now) != 0) return r.say("no limit");
  std::size_t bytes = 0;
  link* head = take_all(r, ways[0], n, bytes);
  check_and_free(r, head, n);
  subject::free(opaque(warm));
}

}  // namespace

void add_exhaustion(catalogue& table) {
  table.under(setting::limited);
  constexpr std::size_t count = sizeof ways / sizeof ways[0];
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t n : {std::size_t{64}, std::size_t{1000}, std::size_t{32'000}, std::size_t{100'000},
                          std::size_t{1} << 20, std::size_t{7} << 20})
      table.add(exhaust, i, n, "exhaust by %s of %zu", ways[i].name, n);
  const std::size_t pairs[][2] = {{64, 1 << 20},  {1 << 20, 64},  {1000, 100'000}, {100'000, 1000},
                                  {7 << 20, 200}, {200, 7 << 20}, {48, 2000}};
  for (auto [first, second] : pairs)
    table.add(exhaust_then_other, first, second, "exhaust by %zu, then by %zu", first, second);
  for (std::size_t step : {std::size_t{4096}, std::size_t{100'000}, std::size_t{3} << 20})
    table.add(grow_until_full, step, 0, "realloc by %zu until full", step);
  table.add(one_too_large, limit, 0, "one block of the whole limit");
  table.add(one_too_large, 4 * limit, 0, "one block of four limits");
  table.add(library_at_the_end, 0, 0, "libc and libstdc++ without memory");
  table.under(setting::fresh);
  table.add(limit_set_while_running, 1000, 0, "a limit set while running, blocks of 1000");
  table.add(limit_set_while_running, 1 << 20, 0, "a limit set while running, blocks of 1M");
  table.under(setting::plain);
}

}  // namespace conformance
