// Requirements 6, 7 and 8: the heap starts and works where little is allowed.
//   starts            every way below, each in a process of its own
//   starts work       2 MB of everything, here
//   starts maps       work in a process that has hardly a mapping left
//   starts overcommit the same with vm.overcommit_memory=2, which needs root and is put back
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cstdlib>

#include "../faults/plan.hpp"
#include "../probe/again.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/setting.hpp"
#include "../probe/sizes.hpp"
#include "../probe/stamp.hpp"

using namespace polder;

static constexpr int blocks = 400;
static void* block[blocks];

static void use_it() {
  probe::random r(6);
  for (int round = 0; round < 4; round++) {
    for (auto& p : block) {
      if (p) {
        probe::expect_intact(p, "req 6");
        std::free(p);
        p = nullptr;
      } else {
        auto size = r.below(100) == 0 ? 200000 : probe::any_size(r, 16000);
        p = probe::opaque(std::malloc(size));
        probe::expect(p != nullptr, "req 6: malloc(%zu) is NULL (resident %ld KiB, mapped %ld KiB)",
                      std::size_t(size), probe::resident_kib(), probe::mapped_kib());
        if (auto end = faults::narrow_end.load()) {
          probe::expect(reinterpret_cast<unsigned long>(p) + size <= end,
                        "req 6: %p lies outside the narrow machine", p);
        }
        probe::stamp(p, size, std::uint32_t(r.next()));
      }
    }
  }
  void* large = probe::opaque(std::malloc(3 << 20));
  probe::expect(large != nullptr, "req 6: malloc(3 MB) is NULL");
  large = std::realloc(large, 5 << 20);
  probe::expect(large != nullptr, "req 6: realloc to 5 MB is NULL");
  std::free(large);
  for (auto& p : block) std::free(p), p = nullptr;
}

static int work() {
  ::alarm(60);
  use_it();
  if (std::getenv("POLDER_NARROW")) {
    probe::expect(faults::of(faults::call::map).seen.load() > 0,
                  "the mock of a narrow machine was never asked: it proves nothing");
  }
  probe::say("resident %ld KiB, mapped %ld MiB", probe::resident_kib(), probe::mapped_kib() >> 10);
  return 0;
}

// Takes nearly every mapping the kernel allows, by pages of alternating protection, then works with what is left.
static int work_without_maps() {
  ::alarm(60);
  char text[64];
  probe::read_text("/proc/sys/vm/max_map_count", text, sizeof text);
  long allowed = std::atol(text);
  if (allowed > 300000) probe::skip("vm.max_map_count is so large that filling it would take too long");
  auto page = ::sysconf(_SC_PAGESIZE);
  long wanted = allowed - probe::map_count() - 60;
  auto* pages = static_cast<char*>(
      ::mmap(nullptr, std::size_t(wanted * page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  probe::expect(pages != MAP_FAILED, "mmap: %s", std::strerror(errno));
  for (long i = 0; i < wanted; i += 2) {
    if (::mprotect(pages + i * page, std::size_t(page), PROT_READ) != 0) break;
  }
  long before = probe::map_count();
  use_it();
  // Now not one is left: requests may fail, with ENOMEM, and what lives must stay whole.
  for (int i = 0; i < 200; i++) {
    if (::mmap(nullptr, std::size_t(page), i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED)
      break;
  }
  probe::random r(7);
  for (int i = 0; i < 20000; i++) {
    void*& p = block[r.below(blocks)];
    if (p) {
      probe::expect_intact(p, "req 7");
      std::free(p);
      p = nullptr;
      continue;
    }
    auto size = probe::any_size(r, 8 << 20);
    errno = 0;
    p = probe::opaque(std::malloc(size));
    probe::expect(p || errno == ENOMEM, "req 7: NULL with errno %d", errno);
    if (p) probe::stamp(p, size, 1);
  }
  for (auto& p : block) std::free(p), p = nullptr;
  ::munmap(pages, std::size_t(wanted * page));
  use_it();
  probe::say("%ld of %ld mappings taken, %ld at the end", before, allowed, probe::map_count());
  return 0;
}

static int under_strict_overcommit() {
  constexpr const char* path = "/proc/sys/vm/overcommit_memory";
  char before[16];
  probe::read_text(path, before, sizeof before);
  const char* args[] = {"work", nullptr};
  const char* plain[] = {nullptr};
  const auto passed =
      probe::with_setting(path, "2", before, [&] { return probe::passes("overcommit_memory=2", args, plain, 20); });
  return passed ? 0 : 1;
}

static void limit(int what, rlim_t bytes) {
  rlimit r{bytes, bytes};
  ::setrlimit(what, &r);
}

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "work") == 0) return work();
  if (argc > 1 && std::strcmp(argv[1], "maps") == 0) return work_without_maps();
  if (argc > 1 && std::strcmp(argv[1], "overcommit") == 0) return under_strict_overcommit();

  int failures = 0;
  const char* args[] = {"work", nullptr};
  auto with = [&](const char* name, const char* setting, int what, rlim_t bytes) {
    const char* settings[] = {setting, nullptr};
    failures += !probe::passes(name, args, settings, 60, [&] {
      if (bytes) limit(what, bytes);
    });
  };
  with("address space 32 MiB", nullptr, RLIMIT_AS, 32 << 20);
  with("address space 48 MiB", nullptr, RLIMIT_AS, 48 << 20);
  with("address space 1 GiB", nullptr, RLIMIT_AS, 1 << 30);
  with("address space 8 GiB", nullptr, RLIMIT_AS, rlim_t{8} << 30);
  with("address space 2 TiB", nullptr, RLIMIT_AS, rlim_t{2} << 40);
  with("data 16 MiB", nullptr, RLIMIT_DATA, 16 << 20);
  with("data 64 MiB", nullptr, RLIMIT_DATA, 64 << 20);
  with("stack unlimited", nullptr, RLIMIT_STACK, RLIM_INFINITY);
  with("38 address bits", "POLDER_NARROW=38", 0, 0);
  with("34 address bits", "POLDER_NARROW=34", 0, 0);
  with("30 address bits", "POLDER_NARROW=30", 0, 0);
  with("arena_size=1G", "POLDER_OPTIONS=arena_size=1G", 0, 0);
  with("arena_size=16M", "POLDER_OPTIONS=arena_size=16M", 0, 0);
  with("arena_size=1M", "POLDER_OPTIONS=arena_size=1M", 0, 0);
  with("page_size=65536", "POLDER_OPTIONS=page_size=65536", 0, 0);
  with("page_size=16384", "POLDER_OPTIONS=page_size=16384", 0, 0);
  const char* maps[] = {"maps", nullptr};
  const char* plain[] = {nullptr};
  failures += !probe::passes("hardly a mapping left", maps, plain, 60);
  return failures ? 1 : 0;
}
