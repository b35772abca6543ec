#include "collection/preallocated.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace polder::bench {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;  // a thread's, at a time

std::uintptr_t region, region_end;
std::atomic<std::uintptr_t> next_piece;

struct bump {
  std::uintptr_t at = 0, end = 0;
};
thread_local bump mine;

[[noreturn]] void used_up() {
  std::fprintf(stderr, "polder-bench: preallocated memory is used up: memory=preallocated is for short runs\n");
  std::exit(2);
}

}  // namespace

void preallocate(std::size_t bytes) {
  bytes = (bytes + piece - 1) / piece * piece;
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (p == MAP_FAILED) {
    std::perror("polder-bench: no memory to preallocate");
    std::exit(2);
  }
  region = reinterpret_cast<std::uintptr_t>(p);
  region_end = region + bytes;
  next_piece.store(region, std::memory_order_relaxed);
}

void* preallocated::take(std::size_t bytes, std::size_t alignment) {
  std::uintptr_t at = (mine.at + alignment - 1) / alignment * alignment;
  if (mine.at == 0 || at + bytes > mine.end) {
    const std::size_t wanted = std::max(piece, (bytes + alignment + piece - 1) / piece * piece);
    mine.at = next_piece.fetch_add(wanted, std::memory_order_relaxed);
    mine.end = mine.at + wanted;
    if (mine.end > region_end) used_up();
    at = (mine.at + alignment - 1) / alignment * alignment;
  }
  mine.at = at + bytes;
  return reinterpret_cast<void*>(at);
}

}  // namespace polder::bench
