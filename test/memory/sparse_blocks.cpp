// Requirement 15: large blocks of which a page is used bring no more in, whatever the program had before: the first chunk of the heap,
// by which runs are known, may be full of small blocks, or of large ones that were filled.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "../probe/expect.hpp"
#include "../probe/resident.hpp"

using namespace polder;

namespace {

// That many, filled.
void fill(int blocks, std::size_t size) {
  for (int i = 0; i != blocks; ++i) {
    void* const p = std::malloc(size);
    probe::expect(p != nullptr, "no memory");
    std::memset(p, 1, size);
  }
}

constexpr int most = 400;
volatile char* blocks_of[most];

// Each as it comes; or, as zeroes, when all are there, as arrays are made and then used.
void touch(int blocks, std::size_t size, bool zeroed) {
  const long before = probe::resident_kib();
  for (int i = 0; i != blocks; ++i) {
    auto* const p = static_cast<volatile char*>(zeroed ? std::calloc(1, size) : std::malloc(size));
    probe::expect(p != nullptr, "no memory");
    if (!zeroed) p[0] = 1;
    blocks_of[i] = p;
  }
  for (int i = 0; zeroed && i != blocks; ++i) blocks_of[i][0] = 1;
  const long grown = probe::resident_kib() - before;
  probe::say("%d blocks of %zu bytes, one byte written in each: %ld KiB", blocks, size, grown);
  probe::expect(grown < blocks * long(size >> 10) / 8, "req 15: %ld KiB of blocks that nobody fills", grown);
}

}  // namespace

int main(int, char** argv) {
  const std::string_view before = argv[1];
  if (before == "small_blocks") fill(2'000, 3'000);
  if (before == "large_blocks") fill(20, 1'000'000);
  if (before == "nothing") touch(most / 2, 8'000'000, false);
  if (before == "small_blocks") touch(most, 1'000'000, false);
  touch(most, 1'600'000, true);
  if (before == "large_blocks") touch(most, 1'000'000, false);
}
