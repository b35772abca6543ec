#pragma once
// heap_counters — what the process's heap counts of its own work, where it tells. Looked up at run time, since a workload
// links no heap:
//
//   Polder     polder_read_statistics    lists of blocks sent to other threads, blocks freed by others than their owner
//   jemalloc   mallctl                   flushes of thread caches, owner changes of its locks
//
// Others say nothing.
#include <cstdint>
#include <optional>

#include "core/run.hpp"

namespace polder::bench {

struct heap_counters {
  std::optional<std::uint64_t> flushes, remote_frees, lock_handoffs;

  static heap_counters now();
  // What came since, a thousand operations.
  void tell_since(run& r, const heap_counters& then, std::uint64_t operations) const;
};

}  // namespace polder::bench
