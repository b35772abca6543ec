#pragma once
// held_block — what a workload remembers of a block that it holds: enough to check and free it.
#include <cstdint>

namespace polder::bench {

struct held_block {
  void* block = nullptr;
  std::uint64_t key = 0;  // of its stamp
  std::uint32_t size = 0;
};

}  // namespace polder::bench
