// Requirement 15: huge pages are a choice, and never a surprise.
//   huge_pages THP       under POLDER_OPTIONS=thp=THP: 2 MB of small blocks, then 256 MB of all sizes, then nothing
//   huge_pages always    all of them on a system that says `always`, which needs root and is put back
// What each choice means for what lies in huge pages, as the kernel counts them:
//   off      nothing ever        large    nothing at 2 MB, something at 256 MB
//   madvise  as the system has it: nothing unless it says `always`, and then something at 256 MB
//   on       something at 256 MB
// Where small pages are larger than 4 KiB, `large` is nothing ever.
// And whichever it is, what is freed goes back.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "../probe/again.hpp"
#include "../probe/expect.hpp"
#include "../probe/pages.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/setting.hpp"
#include "../probe/thp.hpp"

using namespace polder;

namespace {

constexpr std::size_t most = 1 << 20;
void** blocks;  // in small pages, whatever the system does
std::size_t held = 0;

void build(std::size_t bytes, std::size_t largest) {
  probe::random r{bytes};
  for (std::size_t had = 0; had < bytes && held != most; ++held) {
    const std::size_t n = r.below(20) != 0 ? 16 + r.below(496) : 512 + r.below(largest - 511);
    blocks[held] = std::malloc(n);
    probe::expect(blocks[held] != nullptr, "no memory");
    std::memset(blocks[held], 1, n);
    had += n;
  }
}

long huge_kib() { return probe::rollup_kib("AnonHugePages:"); }

// Of a system on which they can be had.
int where_always(const probe::thp& system) {
  return probe::with_setting(probe::thp::path, "always", system.is("[always]") ? "always" : "madvise", [] {
    int failed = 0;
    constexpr const char* every[] = {"off", "madvise", "on", "large"};
    for (const char* thp : every) {
      char option[64] = "POLDER_OPTIONS=thp=";
      std::strcat(option, thp);
      const char* const args[] = {thp, nullptr};
      const char* const settings[] = {option, nullptr};
      failed += !probe::passes(option, args, settings, 60);
    }
    return failed;
  });
}

}  // namespace

int main(int argc, char** argv) {
  probe::expect(argc == 2, "usage: huge_pages off|madvise|on|large|always");
  const char* const thp = argv[1];
  const auto is = [&](const char* what) { return std::strcmp(thp, what) == 0; };
  const probe::thp system;
  if (!system.can_be_had()) probe::end(probe::verdict::not_applicable, "this system has no huge pages to choose");
  if (is("always")) return where_always(system);
  const bool always = system.is("[always]");
  blocks = static_cast<void**>(
      ::mmap(nullptr, most * sizeof(void*), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::madvise(blocks, most * sizeof(void*), MADV_NOHUGEPAGE);
  const long before = probe::resident_kib();
  build(2 << 20, 4'096);
  const long small = huge_kib();
  build(256 << 20, 2 << 20);
  const long large = huge_kib();
  probe::say("thp=%s, and the system's is %s%ld KiB in huge pages at 2 MiB, %ld at 256 MiB", thp, system.text,
             small, large);
  const bool wanted = is("large") && probe::huge_pages_are_of_use();
  if (is("off") || (is("madvise") && !always) || (is("large") && !wanted && !always))
    probe::expect(small == 0 && large == 0, "req 15: huge pages nobody asked for");
  if (is("large")) probe::expect(small == 0, "req 15: a huge page for a small heap");
  if (wanted || is("on") || (is("madvise") && always))
    probe::expect(large != 0, "req 15: no huge page for a large heap");
  while (held != 0) std::free(blocks[--held]);
  ::malloc_trim(0);
  const long left = probe::resident_kib();
  probe::expect(left <= before + (8 << 10), "req 15: %ld KiB more than at first, and nothing is live",
                left - before);
}
