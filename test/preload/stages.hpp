#pragma once
// stages — the heap used at odd stages of a program's life: a bit of work that needs no stdio, and thread locals whose
// destructors make the next one.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../conformance/calls.hpp"

namespace preload {

namespace subject = conformance::subject;

// Allocates in several classes and checks what it wrote; every 64th time in the large ones too. A write(2) and an exit:
// stdio may be gone.
inline void use_heap(const char* stage) {
  static const std::size_t sizes[] = {1, 24, 100, 1000, 5000, 40'000, 300'000, 3 << 20};
  static std::atomic<unsigned> times{0};
  const std::size_t count = times.fetch_add(1, std::memory_order_relaxed) % 64 == 0 ? 8 : 5;
  void* blocks[8];
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i] = i % 2 == 0 ? subject::malloc(sizes[i]) : subject::calloc(1, sizes[i]);
    if (blocks[i] != nullptr) std::memset(blocks[i], static_cast<int>(i) + 1, sizes[i]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (blocks[i] == nullptr || static_cast<unsigned char*>(blocks[i])[sizes[i] - 1] != i + 1) {
      const char text[] = "the heap fails in: ";
      if (::write(2, text, sizeof text - 1) < 0 || ::write(2, stage, std::strlen(stage)) < 0 ||
          ::write(2, "\n", 1) < 0)
        ::_exit(2);
      ::_exit(1);
    }
    blocks[i] = subject::realloc(blocks[i], sizes[i] + 50);
    subject::free(blocks[i]);
  }
}

// Thread locals whose destructors make the next one, five deep.
template <int depth>
struct chained {
  std::unique_ptr<std::vector<std::string>> words =
      std::make_unique<std::vector<std::string>>(50, std::string(200, 'w'));
  void touch() { words->push_back("again"); }
  ~chained();
};
template <int depth>
chained<depth>& link_of_chain() {
  thread_local chained<depth> link;
  return link;
}
inline std::atomic<int> deepest{0};
template <int depth>
chained<depth>::~chained() {
  use_heap("the destructor of a thread local");
  if (deepest < depth) deepest = depth;
  if constexpr (depth < 5) link_of_chain<depth + 1>().touch();
}

}  // namespace preload
