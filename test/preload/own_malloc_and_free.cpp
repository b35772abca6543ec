// A program that defines malloc and free alone: calloc and realloc are the heap's, and get this program's blocks.
#include "bump_arena.hpp"
#include "mixed_scenarios.hpp"

namespace {
constinit preload::bump_arena arena;
}

extern "C" {
void* malloc(std::size_t n) noexcept { return arena.allocate(n); }
void free(void*) noexcept {}
}

int main(int argc, char** argv) { return preload::mixed_main(argc, argv); }
