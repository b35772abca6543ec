// introspection — what the C library's malloc lets a program ask and tune: mallinfo and its like.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

#include <polder/malloc/instance.hpp>
#include <polder/malloc/public.hpp>
#include <polder/malloc/report.hpp>

using namespace polder;
using namespace polder::face;

extern "C" {

// The heap has no brk area and no arenas in glibc's sense. hblkhd: blocks beyond the size classes, which glibc would map one by one;
// uordblks: what else the program holds; fordblks: what else was not given back; arena: both; keepcost: what a trim can give.
POLDER_PUBLIC struct mallinfo2 mallinfo2() noexcept {
  const heap::statistics s = instance.read_statistics();
  struct mallinfo2 info = {};
  info.hblkhd = s.large;
  info.uordblks = s.allocated - std::min(s.large, s.allocated);
  info.arena = std::max(s.resident - std::min(s.large, s.resident), info.uordblks);
  info.fordblks = info.arena - info.uordblks;
  info.keepcost = s.cached;
  info.ordblks = s.spans;
  return info;
}

// The same in ints, which wrap as glibc's do.
POLDER_PUBLIC struct mallinfo mallinfo() noexcept {
  const struct mallinfo2 wide = mallinfo2();
  struct mallinfo info = {};
  info.hblkhd = int(wide.hblkhd);
  info.arena = int(wide.arena);
  info.uordblks = int(wide.uordblks);
  info.fordblks = int(wide.fordblks);
  info.keepcost = int(wide.keepcost);
  info.ordblks = int(wide.ordblks);
  return info;
}

// Accepts and refuses what glibc does, and obeys none of it: the parameters describe another heap. 1: accepted.
POLDER_PUBLIC int mallopt(int parameter, int value) noexcept {
  constexpr int largest_fast_block = 80 * sizeof(std::size_t) / 4;
  return parameter != M_MXFAST || (value >= 0 && value <= largest_fast_block);
}

// Gives free memory back to the system, except for about `keep` bytes. 1: some was given back.
POLDER_PUBLIC int malloc_trim(std::size_t keep) noexcept { return instance.trim(keep) != 0; }

// Writes an XML document about the heap. EINVAL unless `options` is 0.
POLDER_PUBLIC int malloc_info(int options, std::FILE* to) noexcept {
  if (options != 0) return EINVAL;
  report_text text;
  write_xml(text, instance.read_statistics());
  std::fwrite(text.text().data(), 1, text.text().size(), to);
  return 0;
}

POLDER_PUBLIC void malloc_stats() noexcept { write_statistics(STDERR_FILENO, heap::stats_format::text); }

POLDER_ALIAS(mallinfo) struct mallinfo __libc_mallinfo() noexcept;
POLDER_ALIAS(mallopt) int __libc_mallopt(int parameter, int value) noexcept;

}  // extern "C"
