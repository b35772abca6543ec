// Requirement 16: a target. Allocation goes on above it, who watches is told of each crossing once, and nothing spare is kept:
// what is freed there goes back in the free, with no thread and no clock to help.
#include <malloc.h>
#include <unistd.h>

#include "../probe/opaque.hpp"
#include "../probe/resident.hpp"
#include "../probe/the_heap.hpp"
#include "churn.hpp"

using namespace polder;
using namespace polder::memory_test;
using namespace polder::the_heap;

namespace {

constexpr std::size_t target = std::size_t{64} << 20, block = 20'000, count = 6'000;  // 120 MB
void* blocks[count];
int told = 0;
std::size_t told_of = 0;

void note(std::size_t committed, void* data) {
  ++*static_cast<int*>(data);
  told_of = committed;
  std::free(probe::opaque(std::malloc(500'000)));
}

void build(std::size_t from, std::size_t to) {
  for (; from != to; ++from) {
    blocks[from] = std::malloc(block);
    probe::expect(blocks[from] != nullptr, "req 16: above the target there is no memory");
    std::memset(blocks[from], 1, block);
  }
}
void free_from(std::size_t from, std::size_t to) {
  for (; from != to; ++from) std::free(blocks[from]);
}

}  // namespace

int main() {
  ::alarm(110);
  probe::expect(statistics().target == target, "req 16: the target in force is %zu", statistics().target);
  probe::expect(on_target(note, &told) == 0, "req 16: nobody can be told");
  build(0, count);
  const std::size_t full = statistics().committed;
  const long resident = probe::resident_kib();
  probe::expect(told == 1 && told_of > target, "req 16: told %d times of the crossing, of %zu bytes", told,
                told_of);
  free_from(count - 1'000, count);
  const polder_statistics less = statistics();
  const long gone = resident - probe::resident_kib();
  probe::say("%zu MiB committed, %zu after 19 MiB were freed, %ld MiB less resident, %zu KiB spare", mib(full),
             mib(less.committed), gone >> 10, less.cached >> 10);
  probe::expect(less.committed <= full - (std::size_t{18} << 20), "req 16: what is freed above the target stays");
  probe::expect(gone >= 17 << 10, "req 16: %ld KiB went back", gone);
  probe::expect(less.cached <= 1 << 20, "req 16: %zu bytes are spare above the target", less.cached);
  void* const huge = probe::opaque(std::malloc(std::size_t{40} << 20));
  std::memset(huge, 1, std::size_t{40} << 20);
  std::free(huge);
  probe::expect(statistics().committed <= less.committed, "req 16: a huge block stays above the target");
  free_from(1'000, count - 1'000);
  probe::expect(statistics().committed <= target, "req 16: below the target again, more is kept than the target");
  probe::expect(told == 1, "req 16: told %d times of one crossing", told);
  build(1'000, count);
  probe::expect(told == 2, "req 16: told %d times of two crossings", told);
  set_target(std::size_t{32} << 20);
  free_from(0, count);
  probe::expect(statistics().committed <= std::size_t{33} << 20, "req 16: a lower target is not looked at");
  return 0;
}
