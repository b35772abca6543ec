// What the C standard asks of the family, where the cases of ../conformance ask for more than it does.
#include <algorithm>
#include <bit>
#include <cstring>

#include <sys/mman.h>

#include "../conformance/report.hpp"
#include "probe.hpp"

namespace polder::conform {
namespace {

namespace subject = conformance::subject;

void zero_sizes() {
  struct {
    const char* name;
    void* (*get)();
  } const ways[] = {{"malloc(0)", [] { return subject::malloc(0); }},
                    {"calloc(0, 8)", [] { return subject::calloc(0, 8); }},
                    {"calloc(8, 0)", [] { return subject::calloc(8, 0); }},
                    {"realloc(NULL, 0)", [] { return subject::realloc(nullptr, 0); }},
                    {"aligned_alloc(64, 0)", [] { return subject::aligned_alloc(64, 0); }}};
  for (const auto& way : ways) {
    constexpr std::size_t count = 200;
    void* blocks[count];
    for (auto& p : blocks) p = way.get();
    void* other = subject::malloc(1);
    std::sort(blocks, blocks + count);
    for (std::size_t i = 0; i + 1 < count; ++i)
      probe::expect(blocks[i] == nullptr || blocks[i] != blocks[i + 1], "%s is the same block twice", way.name);
    for (auto* p : blocks) probe::expect(p == nullptr || p != other, "%s is another live block", way.name);
    for (auto* p : blocks) subject::free(p);
    subject::free(other);
  }
}

void null_pointers() {
  subject::free(nullptr);
  ::operator delete(conformance::opaque(static_cast<void*>(nullptr)));
  ::operator delete[](conformance::opaque(static_cast<void*>(nullptr)));
  void* p = subject::realloc(nullptr, 1000);
  probe::expect(p != nullptr, "realloc(NULL, 1000) is NULL");
  conformance::fill(p, 1000, 1);
  subject::free(p);
}

void alignment_by_size() {
  const auto check = [](const char* name, void* p, std::size_t n) {
    probe::expect(p != nullptr, "%s of %zu is NULL", name, n);
    const std::size_t wanted = std::min<std::size_t>(alignof(std::max_align_t), std::bit_floor(n));
    probe::expect(conformance::aligned_to(p, wanted), "%s of %zu bytes is at %p: not a multiple of %zu", name, n, p,
                  wanted);
    return p;
  };
  static void* kept[3][64];
  for (std::size_t n = 1, i = 0; n <= std::size_t{8} << 20; n += n < 5000 ? 1 : n / 7 | 1, i = (i + 1) % 64) {
    for (auto* slots : kept) subject::free(slots[i]);
    kept[0][i] = check("malloc", subject::malloc(n), n);
    kept[1][i] = check("calloc", subject::calloc(1, n), n);
    kept[2][i] = check("realloc", subject::realloc(subject::malloc(n / 2 + 1), n), n);
  }
}

// Touches a few pages only: what is tried is the arithmetic, not the machine's memory.
void beyond_four_gib() {
  constexpr std::size_t n = std::size_t{9} << 29, four = std::size_t{4} << 30;
  void* room = ::mmap(nullptr, 2 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) probe::end(probe::verdict::not_applicable, "the kernel refuses 9 GiB here");
  ::munmap(room, 2 * n);
  auto* p = static_cast<unsigned char*>(subject::malloc(n));
  auto* q = static_cast<unsigned char*>(subject::malloc(four + 16));
  probe::expect(p != nullptr && q != nullptr, "malloc of %zu bytes is NULL", p == nullptr ? n : four + 16);
  const std::size_t places[] = {0, 15, four - 1, four, four + 15};
  for (std::size_t i : places) p[i] = 1, q[i] = 2;
  p[n - 1] = 1;
  for (std::size_t i : places)
    probe::expect(*conformance::opaque(p + i) == 1 && *conformance::opaque(q + i) == 2,
                  "two blocks overlap at byte %zu", i);
  subject::free(q);
  conformance::fill(p, 1000, 3);
  void* shrunk = subject::realloc(p, 1000);
  probe::expect(shrunk != nullptr && conformance::holds(shrunk, 1000, 3),
                "realloc from 4.5 GiB to 1000 bytes lost them");
  subject::free(shrunk);
}

const demand probes[] = {
    {"zero-size", "c", "a request for 0 bytes gives NULL or a block that is no other", "C17 7.22.3",
     "size 0 is one block", 30, zero_sizes},
    {"null", "c", "free(NULL) does nothing, realloc(NULL, n) is malloc(n)", "C17 7.22.3.3, 7.22.3.5",
     "free(NULL) aborts", 30, null_pointers},
    {"alignment", "c", "a block is aligned for every type that fits into it, up to 16 bytes",
     "C17 7.22.3; C23 7.24.3", "16 bytes are 8-aligned", 30, alignment_by_size},
    {"beyond-4-gib", "c", "blocks larger than 4 GiB, disjoint to the last byte", "C17 7.22.3.4",
     "sizes have 32 bits", 60, beyond_four_gib},
};

}  // namespace

std::span<const demand> language_probes() { return probes; }

}  // namespace polder::conform
