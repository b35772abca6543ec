// Requirement 15: large blocks of which a page is used bring no more in, whatever the program had in small ones before: the first chunk
// of the heap, by which runs are known, may be full of those.
#include <cstdlib>
#include <cstring>

#include "../probe/expect.hpp"
#include "../probe/resident.hpp"

using namespace polder;

int main() {
  constexpr int small_ones = 2'000, large_ones = 200;
  constexpr std::size_t small = 3'000, large = 1'000'000;
  for (int i = 0; i != small_ones; ++i) {
    void* const p = std::malloc(small);
    probe::expect(p != nullptr, "no memory");
    std::memset(p, 1, small);
  }
  const long before = probe::resident_kib();
  for (int i = 0; i != large_ones; ++i) {
    auto* const p = static_cast<volatile char*>(std::malloc(large));
    probe::expect(p != nullptr, "no memory");
    p[0] = 1;
  }
  const long grown = probe::resident_kib() - before;
  probe::say("%d blocks of %zu bytes, one byte written in each: %ld KiB", large_ones, large, grown);
  probe::expect(grown < large_ones * long(large >> 10) / 8, "req 15: %ld KiB of blocks that nobody fills", grown);
}
