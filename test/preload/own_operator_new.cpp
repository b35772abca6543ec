// A program that defines operator new and delete over an arena of its own, and leaves malloc alone.
#include "bump_arena.hpp"
#include "mixed_scenarios.hpp"

namespace {
constinit preload::bump_arena arena;
}

void* operator new(std::size_t n) {
  void* p = arena.allocate(n);
  if (p == nullptr) throw std::bad_alloc{};
  return p;
}
void operator delete(void* p) noexcept {
  if (p != nullptr && !arena.owns(p)) std::abort();
}
void operator delete(void* p, std::size_t) noexcept { ::operator delete(p); }

int main(int argc, char** argv) { return preload::mixed_main(argc, argv); }
