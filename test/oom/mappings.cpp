// Requirement 7: mappings stay bounded: at most 64 beside those at the start, and one for each 2 MB resident. In Michael's
// allocator and in LRMalloc each large block is a mapping, as their papers have it: there, one for each block besides.
//   mappings [iterations]     5,000,000 is the full measure
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/stamp.hpp"

using namespace polder;

int main(int argc, char** argv) {
  long iterations = argc > 1 ? std::atol(argv[1]) : 200000;
  ::alarm(unsigned(iterations / 5000) + 60);
  constexpr int blocks = 500;
  static void* block[blocks];
  const char* const heap = std::getenv("POLDER_TEST_HEAP");
  const bool mapped_each =
      heap && (std::strncmp(heap, "michael", 7) == 0 || std::strncmp(heap, "lrmalloc", 8) == 0);
  probe::random r(77);
  long start = probe::map_count(), most = 0;
  for (long i = 0; i < iterations; i++) {
    void*& p = block[r.below(blocks)];
    if (p) std::free(p);
    // Medium sizes: 4 KiB to 4 MiB, log-uniform, touched at both ends.
    auto size = std::size_t{4096} << r.below(10);
    size += r.below(size);
    p = probe::opaque(std::malloc(size));
    probe::expect(p != nullptr, "malloc(%zu) is NULL", size);
    static_cast<volatile char*>(p)[0] = 1;
    static_cast<volatile char*>(p)[size - 1] = 1;
    if (i % 5000 != 0) continue;
    long maps = probe::map_count() - start, resident = probe::resident_kib();
    most = std::max(most, maps);
    probe::expect(maps <= 64 + resident / 2048 + (mapped_each ? blocks : 0),
                  "req 7: %ld new mappings with %ld KiB resident", maps, resident);
  }
  for (auto p : block) std::free(p);
  probe::say("at most %ld mappings beside the %ld of the start", most, start);
}
