#pragma once
// made — a block from malloc that carries its stamp, and its end, which checks it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "expect.hpp"
#include "opaque.hpp"
#include "stamp.hpp"

namespace polder::probe {

inline void* made(std::size_t size, std::uint32_t seed) {
  void* p = opaque(std::malloc(size));
  expect(p != nullptr, "malloc(%zu) is NULL", size);
  stamp(p, size, seed);
  return p;
}

inline void unmade(void* p) {
  expect_intact(p, "unmade");
  std::free(p);
}

}  // namespace polder::probe
