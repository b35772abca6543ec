// Requirement 9: calloc is zero whatever the kernel says. 10,000 rounds of malloc, dirty, free, calloc over all sizes:
//   zero [cycles]          runs every way below, each in a process of its own
//   zero work [cycles]     runs here, as the environment says
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cstdlib>

#include "../faults/plan.hpp"
#include "../probe/again.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/sizes.hpp"

using namespace polder;

static constexpr int held = 24;

static void dirty(void* p, std::size_t size) { std::memset(p, 0xa5, size); }

static void expect_zero(const void* p, std::size_t size, const char* how, long cycle) {
  // memcmp with itself, shifted: zero throughout if the first byte is and each equals its neighbour.
  auto* bytes = static_cast<const unsigned char*>(p);
  if (size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0)) return;
  std::size_t at = 0;
  while (bytes[at] == 0) at++;
  probe::fail("req 9: %s(%zu) at %p is %#x at offset %zu, cycle %ld", how, size, p, bytes[at], at, cycle);
}

static std::size_t size_of(long cycle, probe::random& r) {
  auto dice = cycle % 100;
  if (dice == 99) return probe::huge_sizes[r.below(probe::huge_sizes.size())];
  if (dice >= 94) return probe::large_sizes[r.below(probe::large_sizes.size())];
  if (dice >= 60) return probe::small_sizes[r.below(probe::small_sizes.size())];
  return 1 + r.below(std::size_t{16} << r.below(12));
}

static int work(long cycles) {
  ::alarm(100);
  if (const char* lock = std::getenv("POLDER_TEST_LOCK")) {
    // MCL_ONFAULT keeps a reserved arena out of memory; what is touched stays locked, and madvise refuses it.
    if (::mlockall(MCL_CURRENT | MCL_FUTURE | (lock[0] == 'o' ? MCL_ONFAULT : 0)) != 0) {
      probe::say("not tried: mlockall: %s", std::strerror(errno));
      return 0;
    }
  }
  probe::random r(2026);
  void* live[held] = {};
  for (long cycle = 0; cycle < cycles; cycle++) {
    auto size = size_of(cycle, r);
    void* p = probe::opaque(std::malloc(size));
    probe::expect(p != nullptr, "malloc(%zu) is NULL", size);
    dirty(p, size);
    // Some stay a while, so that their memory comes back by another way: a neighbour's span, a run, a cache.
    void*& slot = live[r.below(held)];
    std::free(slot);
    slot = nullptr;
    if (r.below(4) == 0) slot = p;
    else std::free(p);
    if (r.below(64) == 0) ::malloc_trim(0);

    auto wanted = r.below(3) ? size : size_of(cycle + 1, r);
    auto* q = static_cast<unsigned char*>(probe::opaque(std::calloc(1, wanted)));
    probe::expect(q != nullptr, "calloc(%zu) is NULL", wanted);
    expect_zero(q, wanted, "calloc", cycle);
    dirty(q, wanted);
    std::free(q);
    if (cycle % 16 == 0) {
      // Two factors, and a block grown after it was zeroed keeps its zeros.
      auto* z = static_cast<unsigned char*>(probe::opaque(std::calloc(wanted / 8 + 1, 8)));
      expect_zero(z, (wanted / 8 + 1) * 8, "calloc", cycle);
      auto* grown = static_cast<unsigned char*>(probe::opaque(std::realloc(z, wanted * 2 + 16)));
      expect_zero(grown, (wanted / 8 + 1) * 8, "realloc after calloc", cycle);
      dirty(grown, wanted * 2 + 16);
      std::free(grown);
    }
  }
  for (void* p : live) std::free(p);
  long advice = faults::of(faults::call::advise).seen.load(),
       refused = faults::of(faults::call::advise).refused.load();
  probe::say("%ld cycles, madvise called %ld times, %ld of them refused or without effect", cycles, advice,
             refused);
  return 0;
}

int main(int argc, char** argv) {
  bool here = argc > 1 && std::strcmp(argv[1], "work") == 0;
  const char* cycles = argc > 1 + here ? argv[1 + here] : "10000";
  if (here) return work(std::atol(cycles));

  struct way {
    const char* name;
    const char* settings[5];
  };
  // 3 is madvise in plan.hpp's list, 22 EINVAL, 11 EAGAIN, -1 success without effect.
  const way ways[] = {
      {"plain", {nullptr}},
      {"mlockall", {"POLDER_TEST_LOCK=all", "POLDER_OPTIONS=arena_size=256M", nullptr}},
      {"mlockall on fault", {"POLDER_TEST_LOCK=onfault", nullptr}},
      {"mlockall on fault, decay_ms=0", {"POLDER_TEST_LOCK=onfault", "POLDER_OPTIONS=decay_ms=0", nullptr}},
      {"release=free", {"POLDER_OPTIONS=release=free", nullptr}},
      {"release=free, decay_ms=0", {"POLDER_OPTIONS=release=free,decay_ms=0", nullptr}},
      {"decay_ms=0", {"POLDER_OPTIONS=decay_ms=0", nullptr}},
      {"populate=0", {"POLDER_OPTIONS=populate=0,decay_ms=0", nullptr}},
      {"thp=on", {"POLDER_OPTIONS=thp=on,decay_ms=0", nullptr}},
      {"madvise fails with EINVAL",
       {"POLDER_FAULTS=3:1:1000000000000000:22", "POLDER_OPTIONS=decay_ms=0", nullptr}},
      {"madvise fails with EAGAIN",
       {"POLDER_FAULTS=3:1:1000000000000000:11", "POLDER_OPTIONS=decay_ms=0", nullptr}},
      {"madvise succeeds without effect",
       {"POLDER_FAULTS=3:1:1000000000000000:-1", "POLDER_OPTIONS=decay_ms=0", nullptr}},
      {"madvise without effect, release=free",
       {"POLDER_FAULTS=3:1:1000000000000000:-1", "POLDER_OPTIONS=release=free,decay_ms=0", nullptr}},
      {"munmap fails", {"POLDER_FAULTS=1:1:1000000000000000:12", "POLDER_OPTIONS=decay_ms=0", nullptr}},
      {"mremap fails", {"POLDER_FAULTS=4:1:1000000000000000:12", "POLDER_OPTIONS=decay_ms=0", nullptr}},
      {"hardened", {"POLDER_OPTIONS=hardened=1,guard_rate=20", nullptr}},
      {"hardened, madvise without effect",
       {"POLDER_FAULTS=3:1:1000000000000000:-1", "POLDER_OPTIONS=hardened=1,guard_rate=20", nullptr}},
      {"hardened, mlockall on fault", {"POLDER_TEST_LOCK=onfault", "POLDER_OPTIONS=hardened=1", nullptr}},
      {"a small arena", {"POLDER_OPTIONS=arena_size=16M,decay_ms=0", nullptr}},
  };
  int failures = 0;
  for (auto& w : ways) {
    const char* args[] = {"work", cycles, nullptr};
    failures += !probe::passes(w.name, args, w.settings, 100);
  }
  return failures ? 1 : 0;
}
