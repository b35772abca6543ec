#pragma once
// catalogue — the table of all cases. A case has an id, a function, and up to two numbers it is run with.
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "report.hpp"

namespace conformance {

enum class setting : unsigned char {
  plain,    // a fresh child
  fresh,    // a fresh program: what a heap opened earlier, a limit that is set later does not take back from it
  limited,  // a fresh program that was started under RLIMIT_AS of 64 MiB
};
enum class judge : unsigned char {
  oracle,  // must say what glibc says
  itself,  // glibc 2.36 lacks the function (it says "absent"): the heap must say "ok"
};

struct probe_case {
  char id[80];
  void (*run)(report&, std::size_t, std::size_t);
  std::size_t a, b;
  setting where;
  judge by;
};

class catalogue {
 public:
  static constexpr std::size_t capacity = 1024;
  using function = void (*)(report&, std::size_t, std::size_t);

  [[gnu::format(printf, 5, 6)]] void add(function run, std::size_t a, std::size_t b, const char* format, ...) {
    if (size_ == capacity) std::abort();
    probe_case& added = cases_[size_++];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(added.id, sizeof added.id, format, arguments);
    va_end(arguments);
    added.run = run, added.a = a, added.b = b;
    added.where = next_setting_, added.by = next_judge_;
    for (std::size_t i = 0; i + 1 < size_; ++i)
      if (std::strcmp(cases_[i].id, added.id) == 0)
        std::fprintf(stderr, "two cases are called %s\n", added.id), std::abort();
  }

  // What the cases added from here on are run in and judged by.
  void under(setting s, judge j = judge::oracle) { next_setting_ = s, next_judge_ = j; }

  const probe_case* begin() const { return cases_; }
  const probe_case* end() const { return cases_ + size_; }
  std::size_t size() const { return size_; }

 private:
  probe_case cases_[capacity] = {};
  std::size_t size_ = 0;
  setting next_setting_ = setting::plain;
  judge next_judge_ = judge::oracle;
};

void add_sizes(catalogue&);        // zero, too large, overflow
void add_alignments(catalogue&);   // 16 at every size; every alignment asked for; what is not an alignment
void add_contents(catalogue&);     // calloc is zero, realloc keeps, blocks do not overlap, errno survives free
void add_information(catalogue&);  // usable size, mallopt, mallinfo, trim, info, stats
void add_aliases(catalogue&);      // __libc_*, cfree, the sized frees of C23
void add_operators(catalogue&);    // operator new and delete in every form
void add_exchange(catalogue&);     // blocks that cross between libc and the program
void add_exhaustion(catalogue&);   // no memory left: an answer, never an abort; and back again

}  // namespace conformance
