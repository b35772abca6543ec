// Requirement 7: mappings stay bounded: at most 64 beside those at the start, one for each 2 MB resident and, in heaps whose papers
// make a large block a mapping of its own, one for each such block that is held.
//   mappings [iterations]     by default 5,000,000 in the full form, else 200,000
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../full_form.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/stamp.hpp"

using namespace polder;

namespace {

// From this many bytes on a block is a mapping of its own. Which of them lie side by side, and are one to the kernel, is its affair.
std::size_t mapped_from(const char* heap) {
  constexpr struct {
    const char* name;
    std::size_t from;
  } known[] = {
      {"scalloc", (1 << 20) + 1}, {"michael", (32 << 10) - 7}, {"lrmalloc", (16 << 10) + 1}, {"super", 1 << 20}};
  for (const auto& k : known)
    if (heap && std::strncmp(heap, k.name, std::strlen(k.name)) == 0) return k.from;
  return SIZE_MAX;
}

}  // namespace

int main(int argc, char** argv) {
  long iterations = argc > 1 ? std::atol(argv[1]) : is_full_form() ? 5'000'000 : 200'000;
  ::alarm(unsigned(iterations / 5000) + 60);
  constexpr int blocks = 500;
  static void* block[blocks];
  static bool mapped[blocks];
  const std::size_t from = mapped_from(std::getenv("POLDER_TEST_HEAP"));
  probe::random r(77);
  long start = probe::map_count(), most = 0;
  for (long i = 0; i < iterations; i++) {
    const auto which = r.below(blocks);
    void*& p = block[which];
    if (p) std::free(p);
    // Medium sizes: 4 KiB to 4 MiB, log-uniform, touched at both ends.
    auto size = std::size_t{4096} << r.below(10);
    size += r.below(size);
    p = probe::opaque(std::malloc(size));
    probe::expect(p != nullptr, "malloc(%zu) is NULL", size);
    mapped[which] = size >= from;
    static_cast<volatile char*>(p)[0] = 1;
    static_cast<volatile char*>(p)[size - 1] = 1;
    if (i % 5000 != 0) continue;
    const long maps = probe::map_count() - start, resident = probe::resident_kib();
    const long large = std::count(mapped, mapped + blocks, true);
    most = std::max(most, maps);
    probe::expect(maps <= 64 + resident / 2048 + large,
                  "req 7: %ld new mappings with %ld KiB resident and %ld large blocks", maps, resident, large);
  }
  for (auto p : block) std::free(p);
  probe::say("at most %ld mappings beside the %ld of the start", most, start);
}
