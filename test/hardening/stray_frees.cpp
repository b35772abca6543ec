// Frees of what is no block, or not such a block. Harm: malloc hands it out, or blocks overlap.
#include <dlfcn.h>
#include <sys/mman.h>

#include <new>

#include "life.hpp"

namespace polder::hardening {
namespace {

effect inside(random& r) {
  const auto size = 32 + r.below(993);
  char* p = block(size);
  give_back(p + 16 * (1 + r.below(size / 16 - 1)));
  return go_on(size);
}

effect misaligned(random& r) {
  const auto size = small(r);
  char* p = block(size);
  give_back(p + 1 + r.below(15));
  return go_on(size);
}

effect inside_large(random& r) {
  const auto size = large(r);
  char* p = block(size);
  give_back(p + 16 * (1 + r.below(size / 16 - 1)));
  return go_on_large(size);
}

// What an attacker would write: words that look like a header of a block of 64 bytes of glibc's, wherever it looks.
constexpr std::size_t prepared = 4096;
region prepare(char* at) {
  constexpr std::uint64_t header = 0x51;
  for (std::size_t i = 0; i + sizeof header <= prepared; i += sizeof header)
    std::memcpy(at + i, &header, sizeof header);
  opaque(at);
  return {at, at + prepared};
}
effect free_in(char* at, random& r) {
  const auto whole = prepare(at);
  give_back(at + 16 * (4 + r.below(prepared / 16 - 16)));
  return go_on(64, whole);
}

effect on_the_stack(random& r) {
  alignas(64) char here[prepared];
  return free_in(here, r);
}
effect static_memory(random& r) {
  alignas(64) static char here[prepared];
  return free_in(here, r);
}
effect mapping(random& r) {
  void* p = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  probe::expect(p != MAP_FAILED, "mmap");
  return free_in(static_cast<char*>(p) + 4096 * r.below(255), r);
}

effect low_number(random& r) {
  give_back(reinterpret_cast<void*>(16 * (1 + r.below(255))));
  return go_on(64);
}
effect any_number(random& r) {
  give_back(reinterpret_cast<void*>(r.next() & 0x7ffffffffff0));
  return go_on(64);
}

// A block of the malloc of a second C library, loaded beside the first into a name space of its own.
effect of_another_heap(random& r) {
  void* const libc = ::dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW | RTLD_LOCAL);
  if (libc == nullptr) return effect::not_applicable;
  const auto its_malloc = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(libc, "malloc"));
  if (its_malloc == nullptr) return effect::not_applicable;
  const auto size = small(r);
  auto* p = static_cast<char*>(its_malloc(size));
  if (p == nullptr) return effect::not_applicable;
  std::memset(p, 1, size);
  give_back(p);
  return go_on(size, {p, p + 1});
}

// A size that shares its class with none of a quarter, nor of four times as much.
std::size_t deletable(random& r) { return 64 + r.below(961); }

template <std::size_t numerator, std::size_t denominator>
effect deleted_as(random& r) {
  const auto size = deletable(r);
  auto* p = opaque(static_cast<char*>(::operator new(size)));
  std::memset(p, 1, size);
  const auto claimed = size * numerator / denominator;
  ::operator delete(p, opaque(claimed));
  return worse(go_on(size), go_on(claimed));
}

effect deleted_overaligned(random& r) {
  const auto size = deletable(r);
  char* p;
  do p = opaque(static_cast<char*>(::operator new(size)));
  while (reinterpret_cast<std::uintptr_t>(p) % 4096 == 0);
  std::memset(p, 1, size);
  ::operator delete(p, size, std::align_val_t{4096});
  return go_on(size);
}

constexpr const char* handed = "malloc hands it out";
constexpr const char* overlap = "blocks overlap";
constexpr mistake all[] = {
    {"free-inside", "stray", "16 bytes or a multiple behind the start", overlap, inside},
    {"free-misaligned", "stray", "1 to 15 bytes behind the start", overlap, misaligned},
    {"free-inside-large", "stray", "somewhere in 1 to 2 MiB", overlap, inside_large},
    {"free-stack", "stray", "the stack, prepared to look like a block of glibc's", handed, on_the_stack},
    {"free-static", "stray", "a static object, so prepared", handed, static_memory},
    {"free-mapping", "stray", "a mapping of the program's, so prepared", handed, mapping},
    {"free-low", "stray", "a number from 16 to 4080", handed, low_number},
    {"free-random", "stray", "any address of user space", handed, any_number},
    {"free-other-heap", "stray", "a block of another malloc, of a second C library", handed, of_another_heap},
    {"delete-smaller", "size", "sized delete with a quarter of the size", overlap, deleted_as<1, 4>},
    {"delete-larger", "size", "sized delete with four times the size", overlap, deleted_as<4, 1>},
    {"delete-overaligned", "size", "plain new, delete with an alignment of 4096", overlap, deleted_overaligned},
};

}  // namespace

std::span<const mistake> stray_frees() { return all; }

}  // namespace polder::hardening
