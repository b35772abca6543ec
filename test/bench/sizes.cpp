// The numbers and sizes that workloads draw: of many keys each as often as another; every size of the range comes up, none beyond it, and no single one stands out. Keys that are
// scattered are all there.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/random.hpp"
#include "core/scatter.hpp"
#include "core/touch.hpp"
#include "core/usual_sizes.hpp"

namespace {

namespace bench = polder::bench;

constexpr unsigned draws = 200'000;
unsigned wrong = 0;

void require(bool good, const char* what, double found) {
  if (good) return;
  ++wrong;
  std::printf("%s: %g\n", what, found);
}

// An octave has its share, which no single size of many has.
void magnitudes(std::size_t least, std::size_t most) {
  bench::random numbers(1, 1);
  unsigned outside = 0;
  unsigned ends[2]{};
  std::vector<unsigned> octaves(64);
  for (unsigned i = 0; i < draws; ++i) {
    const std::size_t size = bench::any_magnitude(numbers, least, most);
    outside += size < least || size > most;
    ends[0] += size == least;
    ends[1] += size == most;
    unsigned octave = 0;
    while (octave < 63 && least << (octave + 1) <= size && least << (octave + 1) < most) ++octave;
    ++octaves[octave];
  }
  std::printf("%zu to %zu: %u and %u of %u at the ends\n", least, most, ends[0], ends[1], draws);
  require(outside == 0, "sizes outside", outside);
  unsigned shared = 0;
  for (const unsigned n : octaves) shared += n != 0;
  for (const unsigned n : octaves)
    require(n == 0 || (n > 0.9 * draws / shared && n < 1.1 * draws / shared), "an octave has another share", n);
  if (most - least < 1024) require(ends[0] != 0 && ends[1] != 0, "an end is never drawn", ends[0]);
  const std::size_t last = most - most / 2;  // no more than these lie in the last octave
  if (least == most) return;
  require(ends[1] <= 2.0 * draws / static_cast<double>(last < 2000 ? last : 2000), "the greatest stands out",
          ends[1]);
}

// What is said where they are listed: mean 499 bytes, median 54. Few large blocks make up most of the mean.
void usual() {
  bench::random numbers(1, 2);
  std::vector<unsigned> sizes(10 * draws);
  for (unsigned& size : sizes) size = bench::usual_size(numbers);
  std::sort(sizes.begin(), sizes.end());
  double sum = 0;
  for (const unsigned size : sizes) sum += size;
  const double mean = sum / static_cast<double>(sizes.size());
  const unsigned median = sizes[sizes.size() / 2];
  require(std::abs(mean - 499) < 10, "the mean of usual sizes", mean);
  require(median == 54 || median == 55, "the median of usual sizes", median);
}

// A third of three times 2^30 keys each, of those that are 0, 1 and 2 more than a multiple of three; and beyond 32 bits.
void evenly() {
  bench::random numbers(1, 3);
  unsigned keys[3]{};
  unsigned above = 0;
  for (unsigned i = 0; i < draws; ++i) {
    ++keys[numbers.below(std::uint64_t{3} << 30) % 3];
    above += numbers.below(std::uint64_t{1} << 40) >= std::uint64_t{1} << 39;
  }
  for (const unsigned n : keys)
    require(n > 0.32 * draws && n < 0.35 * draws, "a third of the keys has another share", n);
  require(above > 0.49 * draws && above < 0.51 * draws, "the greater half of 2^40 has another share", above);
}

// Each key once, so that Zipf's kth stays the kth; and the most frequent are far apart.
void scattered(std::uint64_t n) {
  const bench::scatter scatter(n);
  std::vector<bool> there(n);
  for (std::uint64_t k = 0; k != n; ++k) there[scatter(k)] = true;
  const auto keys = static_cast<std::uint64_t>(std::ranges::count(there, true));
  require(keys == n, "keys of those scattered", static_cast<double>(keys));
  for (std::uint64_t k = 1; n >= 1000 && k != 10; ++k) {
    const std::uint64_t at = scatter(k);
    require(std::min(at, n - at) > n / 100, "a frequent key's distance from the most frequent",
            static_cast<double>(at));
  }
}

}  // namespace

int main() {
  usual();
  evenly();
  for (const std::uint64_t n : {2u, 3u, 4u, 10u, 97u, 1000u, 2000u, 65536u, 200'000u, 1'234'567u}) scattered(n);
  magnitudes(64 << 10, 8 << 20);  // large_blocks
  magnitudes(16, 256 << 10);      // calloc_zero
  magnitudes(256 << 10, 16 << 20);
  magnitudes(16, 512);
  magnitudes(1, 256 << 10);
  magnitudes(65, 128);
  magnitudes(100, 100);
  magnitudes(1, 2);
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
