// A program that defines malloc, free, calloc and realloc, and none of the rest of the family.
#include "bump_arena.hpp"
#include "mixed_scenarios.hpp"

namespace {
constinit preload::bump_arena arena;
}

extern "C" {
void* malloc(std::size_t n) noexcept { return arena.allocate(n); }
void free(void*) noexcept {}
void* calloc(std::size_t n, std::size_t m) noexcept { return arena.allocate(n * m); }
void* realloc(void* p, std::size_t n) noexcept {
  void* q = arena.allocate(n);
  if (p != nullptr && q != nullptr && arena.owns(p)) std::memcpy(q, p, n < arena.size(p) ? n : arena.size(p));
  return q;
}
}

int main(int argc, char** argv) { return preload::mixed_main(argc, argv); }
