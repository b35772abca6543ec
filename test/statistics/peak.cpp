// Requirement 19: `peak` is the most memory that there was at once, small blocks and all, though nobody asked at that moment. What
// came after the rest had gone is not added to it, and it never falls.
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/resident.hpp"
#include "../probe/the_heap.hpp"

using namespace polder;

static constexpr std::size_t blocks = 400'000;
static void* all[blocks];

int main() {
  ::alarm(60);
  std::memset(all, 1, sizeof all);  // its own pages are there before
  const long before = probe::resident_kib();
  for (auto& p : all) {
    p = probe::opaque(std::malloc(100));
    probe::expect(p != nullptr, "req 19: no memory");
    std::memset(p, 1, 100);
  }
  const long grown = probe::resident_kib() - before;
  for (auto& p : all) std::free(p);
  ::malloc_trim(0);
  const polder_statistics s = the_heap::statistics();
  const long peak = long(s.peak >> 10), resident = long(s.resident >> 10);
  probe::say("grown by %ld KiB, peak %ld KiB, resident after a trim %ld KiB", grown, peak, resident);
  probe::expect(peak >= resident, "req 19: peak %ld KiB, resident %ld KiB", peak, resident);
  probe::expect(peak >= grown - grown / 16, "req 19: peak %ld KiB, the program has grown by %ld", peak, grown);
  probe::expect(peak <= grown + grown / 2 + 4096, "req 19: peak %ld KiB, the program has grown by %ld", peak,
                grown);

  // As much again, in one block, where the rest is gone.
  const auto bytes = std::size_t(grown) << 10;
  void* const huge = probe::opaque(std::malloc(bytes));
  probe::expect(huge != nullptr, "req 19: no memory");
  const long with_huge = long(the_heap::statistics().peak >> 10), there = resident + grown;
  probe::say("peak %ld KiB with a block of %ld KiB", with_huge, grown);
  probe::expect(with_huge <= (there > peak ? there : peak) + 4096, "req 19: peak %ld KiB, %ld before and %ld then",
                with_huge, peak, there);

  // What is kept beside others, once it is freed, is in it, and goes.
  void* const other = probe::opaque(std::malloc(3 * bytes));
  std::free(huge);
  void* const longer = probe::opaque(std::malloc(2 * bytes));
  probe::expect(other != nullptr && longer != nullptr, "req 19: no memory");
  const long most = long(the_heap::statistics().peak >> 10);
  probe::expect(most >= 5 * grown, "req 19: peak %ld KiB with blocks of %ld KiB", most, 5 * grown);
  ::malloc_trim(0);
  const long after = long(the_heap::statistics().peak >> 10);
  probe::say("peak %ld KiB with blocks of %ld KiB, and %ld KiB after a trim", most, 5 * grown, after);
  probe::expect(after >= most, "req 19: peak %ld KiB, and %ld KiB after a trim", most, after);
}
