// Requirement 10: a program that has a large buffer for a moment and then keeps something small, over and over. What the buffers leave
// behind is there for the next, whatever lies between them: at the end at most twice what is live is resident, and 32 MB; after a
// trim at most 1.1 times that, and 32 MB.
//   passing_buffers BYTES   of a buffer
#include <malloc.h>

#include <cstdlib>

#include "../probe/expect.hpp"
#include "../probe/resident.hpp"

using namespace polder;

int main(int count, char** arguments) {
  constexpr std::size_t turns = 600, kept = 64 << 10, block = 96;
  constexpr long live = turns * kept >> 10, spare = 32 << 10;  // KiB
  const std::size_t bytes = count == 2 ? std::strtoul(arguments[1], nullptr, 10) : 0;
  probe::expect(bytes > 5000, "usage: passing_buffers BYTES");
  const long before = probe::resident_kib();
  for (std::size_t turn = 0; turn != turns; ++turn) {
    auto* const buffer = static_cast<volatile char*>(std::malloc(bytes));
    probe::expect(buffer != nullptr, "no memory");
    buffer[0] = 1;
    buffer[5000] = 1;
    std::free(const_cast<char*>(buffer));
    for (std::size_t had = 0; had < kept; had += block) *static_cast<volatile char*>(std::malloc(block)) = 1;
  }
  const long after = probe::resident_kib() - before;
  ::malloc_trim(0);
  const long trimmed = probe::resident_kib() - before;
  std::printf("%ld KiB live, %ld resident, %ld after malloc_trim\n", live, after, trimmed);
  probe::expect(after <= 2 * live + spare, "the buffers' memory stays");
  probe::expect(trimmed <= live + live / 10 + spare, "malloc_trim does not give it back");
}
