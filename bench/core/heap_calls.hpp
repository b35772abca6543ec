#pragma once
// heap_calls — the calls of the heap under test, through one table, as a dynamically linked call goes through one anyway:
// a metric that has to see single calls puts itself into the table, and one that is not asked for costs nothing.
#include <cstddef>
#include <cstdlib>

namespace polder::bench {

struct heap_calls {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
};

// Changed before the first worker starts, only read afterwards.
inline constinit heap_calls heap{std::malloc, std::calloc, std::realloc, std::free};

}  // namespace polder::bench
