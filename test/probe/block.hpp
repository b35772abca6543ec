#pragma once
// block — a block of which every byte was written, and its end; the compiler knows of neither.
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "expect.hpp"
#include "opaque.hpp"

namespace polder::probe {

inline char* block(std::size_t size) {
  auto* p = static_cast<char*>(opaque(std::malloc(size)));
  expect(p != nullptr, "malloc(%zu) is NULL", size);
  std::memset(p, 1, size);
  return p;
}

inline void give_back(void* p) { std::free(opaque(p)); }

}  // namespace polder::probe
