// Requirements 11 and 12: a producer ends while its blocks are under way; the consumer, which never allocates, frees them.
// Whatever the producers' heaps kept must serve their successors: 200 producers of 8 MB each, at most 24 MB resident.
#include <unistd.h>
#include <cstdlib>

#include "crew.hpp"

using namespace polder;
using namespace polder::threads_test;

static constexpr int rounds = 200, blocks = 8000;
static void* under_way[blocks];

static void* produce(void* number) {
  auto seed = std::uint32_t(reinterpret_cast<std::uintptr_t>(number));
  probe::random r(seed);
  for (auto& p : under_way) p = made(probe::any_size(r, 4096), seed);
  return nullptr;
}

static void* consume(void*) {
  for (auto& p : under_way) unmade(p);
  return nullptr;
}

int main() {
  ::alarm(100);
  long before = probe::resident_kib(), most = 0;
  for (std::uintptr_t i = 0; i < rounds; i++) {
    ::pthread_join(start(produce, reinterpret_cast<void*>(i)), nullptr);
    ::pthread_join(start(consume, nullptr), nullptr);
    most = std::max(most, probe::resident_kib() - before);
  }
  probe::say("most resident: %ld KiB over the start", most);
  probe::expect(most <= 24 << 10, "req 12: blocks of ended producers pile up: %ld KiB", most);
}
