// operators — C++'s new and delete go the way of every other call of the heap under test, so that they can be timed.
#include <cstdlib>
#include <new>

#include "core/heap_calls.hpp"

void* operator new(std::size_t size) {
  if (void* const block = polder::bench::heap.malloc(size)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { polder::bench::heap.free(block); }
void operator delete(void* block, std::size_t) noexcept { polder::bench::heap.free(block); }
