// The functions that ask and tell: usable size, mallopt, mallinfo, trim, info, stats.
#include <unistd.h>

#include <cstdio>
#include <type_traits>

#include "../probe/resident.hpp"
#include "catalogue.hpp"

namespace conformance {
namespace {

void mallopt_answer(report& r, std::size_t parameter, std::size_t value) {
  r.say("%d", ::mallopt(static_cast<int>(parameter), static_cast<int>(value)));
  void* p = subject::malloc(1000);  // and it still works
  if (p == nullptr || subject::usable(p) < 1000) r.say("malloc is broken by it");
  subject::free(p);
}

// What the fields count is each allocator's affair. What a program may ask: memory in use grows with what is
// allocated and falls with what is freed. (A few of the blocks may come from a thread's cache, which glibc counts as in
// use.)
template <class Info>
std::size_t in_use(Info (*ask)()) {
  const Info now = opaque(ask)();
  return static_cast<std::size_t>(now.uordblks) + static_cast<std::size_t>(now.hblkhd);
}
template <class Info>
void info_follows(report& r, Info (*ask)(), std::size_t n, std::size_t count) {
  void* blocks[64];
  const std::size_t before = in_use(ask);
  for (std::size_t i = 0; i < count; ++i) blocks[i] = subject::malloc(n);
  const std::size_t during = in_use(ask);
  for (std::size_t i = 0; i < count; ++i) subject::free(blocks[i]);
  const std::size_t after = in_use(ask);
  r.say(during >= before + n * count / 4 * 3 ? "grows" : "does not grow with allocation");
  r.say(after + n * count / 2 <= during ? "falls" : "does not fall with free");
  // A program asks how much of the system's memory is held: never less than what is in use.
  const Info now = opaque(ask)();
  r.say(static_cast<std::size_t>(now.arena) + static_cast<std::size_t>(now.hblkhd) >= in_use(ask)
            ? "arena covers it"
            : "arena is less than in use");
}
void mallinfo2_follows(report& r, std::size_t n, std::size_t count) { info_follows(r, &::mallinfo2, n, count); }
// The arena's bytes are in use or free, and a block is in the arena or, by itself, in hblkhd, not in both.
template <class Info>
void info_adds_up(report& r, Info (*ask)(), std::size_t n, std::size_t count) {
  void* blocks[64];
  const std::size_t before = in_use(ask);
  for (std::size_t i = 0; i < count; ++i) blocks[i] = subject::malloc(n);
  const Info now = opaque(ask)();
  const std::size_t during = in_use(ask);
  for (std::size_t i = 0; i < count; ++i) subject::free(blocks[i]);
  using number = std::make_unsigned_t<decltype(now.arena)>;
  r.say(number(now.arena) == number(now.uordblks) + number(now.fordblks) ? "arena is in use and free"
                                                                         : "arena is not in use and free");
  r.say(during - before < n * count / 2 * 3 ? "counted once" : "counted twice");
}
void mallinfo2_adds_up(report& r, std::size_t n, std::size_t count) { info_adds_up(r, &::mallinfo2, n, count); }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void mallinfo_follows(report& r, std::size_t n, std::size_t count) { info_follows(r, &::mallinfo, n, count); }
void mallinfo_adds_up(report& r, std::size_t n, std::size_t count) { info_adds_up(r, &::mallinfo, n, count); }
#pragma GCC diagnostic pop

// trim answers 1 when it gave memory back. When there was none to give, glibc says 0 or, where pages it gave back before
// still lie in free blocks, 1 once more: not compared.
void trim(report& r, std::size_t n, std::size_t) {
  ::malloc_trim(0);
  const int again_at_once = ::malloc_trim(0);
  if (again_at_once != 0 && again_at_once != 1) r.say("nothing to give: %d", again_at_once);
  constexpr std::size_t count = 100;
  void* blocks[count];
  for (auto& block : blocks) std::memset(block = subject::malloc(n), 1, n);
  void* last = subject::malloc(n);
  const long held = polder::probe::resident_kib();
  for (auto* block : blocks) subject::free(opaque(block));
  // Or free() gave it back before.
  const bool gave = held - polder::probe::resident_kib() >= long(n * count / 2 / 1024);
  r.say("much to give: %d", ::malloc_trim(0) | gave);
  std::memset(last, 2, n);
  void* again = subject::malloc(n);
  std::memset(again, 3, n);
  subject::free(opaque(again));
  subject::free(opaque(last));
}

void info(report& r, std::size_t option, std::size_t) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  void* p = subject::malloc(100);
  errno = 0;
  const int answer = ::malloc_info(static_cast<int>(option), out);
  std::fclose(out);
  subject::free(p);
  r.say("%s", answer == 0 ? "0" : answer > 0 ? ::strerrorname_np(answer) : "-1");
  // glibc's manual promises an XML document, and that what stands in it may change.
  if (size != 0)
    r.say(text[0] == '<' && size > 8 && std::strcmp(text + size - 2, ">\n") == 0 &&
                  std::strstr(text, "\n</") != nullptr
              ? "a document"
              : "not a document");
  else r.say("nothing written");
  std::free(text);
}

void stats(report& r, std::size_t, std::size_t) {
  int ends[2];
  if (::pipe(ends) != 0) return r.say("no pipe");
  const int kept = ::dup(2);
  ::dup2(ends[1], 2);
  ::malloc_stats();
  std::fflush(stderr);
  ::dup2(kept, 2);
  ::close(ends[1]);
  char text[65'536];
  const ssize_t n = ::read(ends[0], text, sizeof text);
  r.say(n > 0 && text[n - 1] == '\n' ? "writes lines to stderr" : "writes nothing to stderr");
  ::close(ends[0]);
  ::close(kept);
}

void usable_of_null(report& r, std::size_t, std::size_t) { r.say("%zu", subject::usable(nullptr)); }
void usable_is_enough(report& r, std::size_t from, std::size_t to) {
  for (std::size_t n = from; n < to; n += n / 64 + 1) {
    void* p = subject::malloc(n);
    const std::size_t first = subject::usable(p);
    void* q = subject::malloc(n);
    if (first < n) r.say("%zu: usable < n", n);
    if (subject::usable(p) != first) r.say("%zu: it changed", n);
    subject::free(q);
    if (subject::usable(p) != first) r.say("%zu: it changed", n);
    subject::free(p);
  }
}

}  // namespace

void add_information(catalogue& table) {
  struct {
    const char* name;
    int parameter;
    int value;
  } const options[] = {
      {"M_MXFAST 64", M_MXFAST, 64},
      {"M_MXFAST 0", M_MXFAST, 0},
      {"M_MXFAST 100000", M_MXFAST, 100'000},
      {"M_MXFAST -1", M_MXFAST, -1},
      {"M_TRIM_THRESHOLD 1M", M_TRIM_THRESHOLD, 1 << 20},
      {"M_TRIM_THRESHOLD -1", M_TRIM_THRESHOLD, -1},
      {"M_TOP_PAD 64K", M_TOP_PAD, 1 << 16},
      {"M_MMAP_THRESHOLD 1M", M_MMAP_THRESHOLD, 1 << 20},
      {"M_MMAP_THRESHOLD 512M", M_MMAP_THRESHOLD, 512 << 20},
      {"M_MMAP_MAX 0", M_MMAP_MAX, 0},
      {"M_MMAP_MAX 100", M_MMAP_MAX, 100},
      {"M_CHECK_ACTION 3", M_CHECK_ACTION, 3},
      {"M_PERTURB 165", M_PERTURB, 165},
      {"M_ARENA_TEST 4", M_ARENA_TEST, 4},
      {"M_ARENA_MAX 2", M_ARENA_MAX, 2},
      {"M_NLBLKS 5", M_NLBLKS, 5},
      {"unknown 12345", 12'345, 1},
      {"unknown -99", -99, 1},
  };
  for (const auto& o : options)
    table.add(mallopt_answer, static_cast<std::size_t>(o.parameter), static_cast<std::size_t>(o.value),
              "mallopt %s", o.name);
  table.add(mallinfo2_follows, 1000, 64, "mallinfo2 follows 64 blocks of 1000");
  table.add(mallinfo2_follows, 100'000, 64, "mallinfo2 follows 64 blocks of 100000");
  table.add(mallinfo2_follows, 4 << 20, 10, "mallinfo2 follows 10 blocks of 4M");
  table.add(mallinfo_follows, 100'000, 64, "mallinfo follows 64 blocks of 100000");
  table.add(mallinfo_follows, 4 << 20, 10, "mallinfo follows 10 blocks of 4M");
  table.add(mallinfo2_adds_up, 1000, 64, "mallinfo2 adds up with 64 blocks of 1000");
  table.add(mallinfo2_adds_up, 4 << 20, 10, "mallinfo2 adds up with 10 blocks of 4M");
  table.add(mallinfo_adds_up, 4 << 20, 10, "mallinfo adds up with 10 blocks of 4M");
  table.add(trim, 10'000, 0, "malloc_trim after blocks of 10000");
  table.add(trim, 60'000, 0, "malloc_trim after blocks of 60000");
  table.add(info, 0, 0, "malloc_info(0)");
  table.add(info, 1, 0, "malloc_info(1)");
  table.add(stats, 0, 0, "malloc_stats");
  table.add(usable_of_null, 0, 0, "malloc_usable_size(NULL)");
  table.add(usable_is_enough, 0, 40'000, "malloc_usable_size up to 40000");
  table.add(usable_is_enough, 40'000, 8 << 20, "malloc_usable_size up to 8M");
}

}  // namespace conformance
