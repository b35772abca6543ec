#pragma once
// linux_scalability — Lever and Boreham, "malloc() performance in a multithreaded Linux environment", 2000; Michael
// sec. 4.1 (pairs); LRMalloc sec. 4 (batches).
#include "core/run.hpp"

namespace polder::bench {

struct linux_scalability {
  static constexpr parameter parameters[] = {
      {"size", 8, 1, 1 << 20, "bytes", "size of every block"},
      {"count", 40'000'000, 1, 100'000'000, "pairs", "mallocs, and frees, of each thread"},
      {"shape", 0, 0, 1, "", "a free after each malloc, or all mallocs and then all frees", "pairs|batch"},
  };
  static constexpr preset presets[] = {
      {"michael-fig8a", "Michael, figure 8a: 10 million pairs of 8 bytes", "size=8 count=10000000 shape=pairs"},
      {"lrmalloc-fig2a", "LRMalloc, figure 2a: 10 million mallocs of 16 bytes, then 10 million frees",
       "size=16 count=10000000 shape=batch"},
      {"lrmalloc-fig2a-scaled", "LRMalloc, figure 2a, shorter", "size=16 count=3000000 shape=batch"},
      {"quick", "Michael, figure 8a: short as it is", "size=8 count=10000000 shape=pairs"},
      {"smoke", "for tests", "count=4000"},
      {"smoke-batch", "for tests", "size=16 count=4000 shape=batch"},
  };
  static constexpr workload_info info{
      .name = "linux_scalability",
      .title = "Linux scalability",
      .paper = "Lever and Boreham 2000; Michael fig. 8a; LRMalloc fig. 2a",
      .what =
          "Each thread allocates and frees a block of 8 bytes in a tight loop; or a great batch, then frees it.",
      .shows = "Latency of the shortest path through the allocator, and whether threads disturb each other there.",
      .parameters = parameters,
      .presets = presets,
  };

  static void execute(run& r) {
    const std::size_t size = r.with.size("size");
    const std::size_t count = r.with.size("count");
    if (r.with.word("shape") == "pairs") {
      r.measure([&](worker& w) {
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint64_t key = w.next_key();
          w.release(w.allocate(size, key), size, key);
        }
        w.operations += 2 * count;
      });
      return;
    }
    mapped_array<void*> table(count * r.threads);
    r.measure([&](worker& w) {
      void** mine = table.begin() + w.id * count;
      for (std::size_t i = 0; i < count; ++i) mine[i] = w.allocate(size, block_key(w.salt, i));
      for (std::size_t i = 0; i < count; ++i) w.release(mine[i], size, block_key(w.salt, i));
      w.operations += 2 * count;
    });
  }
};

}  // namespace polder::bench
