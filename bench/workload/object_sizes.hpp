#pragma once
// object_sizes — scalloc sec. 7.5 and 7.7 (ACDC): every order of magnitude from 16 bytes to 4 MB.
#include "core/run.hpp"
#include "core/touch.hpp"

namespace polder::bench {

struct object_sizes {
  static constexpr parameter parameters[] = {
      {"low", 4, 0, 30, "", "the first interval is [2^low, 2^(low+2)) bytes"},
      {"high", 20, 0, 30, "", "the last interval is [2^high, 2^(high+2)) bytes"},
      {"step", 2, 1, 30, "", "from one exponent to the next"},
      {"cycles", 50, 1, 1'000'000, "cycles", "of each interval: allocate 2^x KB, access, free the former ones"},
      {"floor", 1 << 20, 0, 1LL << 40, "bytes", "a cycle allocates at least this much"},
      {"cap", 4 << 20, 1024, 1LL << 40, "bytes", "and at most this much, or one block"},
      {"touch", 2, 0, 3, "", "what is written and read of a block between its stamps", touch_choices},
  };
  static constexpr preset presets[] = {
      {"scalloc-fig10", "scalloc, figures 10 and 12: all intervals, 30 cycles of 2^x KB each",
       "low=4 high=20 step=2 cycles=30 floor=0 cap=1G"},
      {"scalloc-fig10-x4",
       "a point of figures 10 and 12: blocks from 16 B to four times that; 32 MB a cycle at most",
       "low=4 high=4 cycles=30 floor=0 cap=32M"},
      {"scalloc-fig10-x6",
       "a point of figures 10 and 12: blocks from 64 B to four times that; 32 MB a cycle at most",
       "low=6 high=6 cycles=30 floor=0 cap=32M"},
      {"scalloc-fig10-x8",
       "a point of figures 10 and 12: blocks from 256 B to four times that; 32 MB a cycle at most",
       "low=8 high=8 cycles=30 floor=0 cap=32M"},
      {"scalloc-fig10-x10",
       "a point of figures 10 and 12: blocks from 1 KB to four times that; 32 MB a cycle at most",
       "low=10 high=10 cycles=30 floor=0 cap=32M"},
      {"scalloc-fig10-x12",
       "a point of figures 10 and 12: blocks from 4 KB to four times that; 32 MB a cycle at most",
       "low=12 high=12 cycles=30 floor=0 cap=32M"},
      {"scalloc-fig10-x14",
       "a point of figures 10 and 12: blocks from 16 KB to four times that; 32 MB a cycle at most",
       "low=14 high=14 cycles=30 floor=0 cap=32M"},
      {"scalloc-fig10-x16",
       "a point of figures 10 and 12: blocks from 64 KB to four times that; 32 MB a cycle at most",
       "low=16 high=16 cycles=30 floor=0 cap=32M"},
      {"scalloc-fig10-x18",
       "a point of figures 10 and 12: blocks from 256 KB to four times that; 32 MB a cycle at most",
       "low=18 high=18 cycles=30 floor=0 cap=32M"},
      {"scalloc-fig10-x20",
       "a point of figures 10 and 12: blocks from 1 MB to four times that; 32 MB a cycle at most",
       "low=20 high=20 cycles=30 floor=0 cap=32M"},
      {"small", "16 bytes to 4 KB", "low=4 high=10 floor=4M cap=4M cycles=30"},
      {"large", "64 KB to 4 MB", "low=16 high=20 floor=16M cap=16M touch=pages"},
      {"quick", "the defaults, shorter", "cycles=30"},
      {"smoke", "for tests", "cycles=2 floor=16K cap=1M"},
  };
  static constexpr workload_info info{
      .name = "object_sizes",
      .title = "Object sizes",
      .paper = "scalloc fig. 10 and 12 (ACDC)",
      .what =
          "Each thread, for each interval of sizes: allocates a volume of blocks, accesses it, frees that of the "
          "cycle before.",
      .shows = "Whether speed and memory hold over all sizes, and where the allocator changes its ways.",
      .parameters = parameters,
      .presets = presets,
  };

  struct object {
    void* block;
    std::size_t size;
    std::uint64_t key;
  };

  static std::size_t volume(const settings& with, unsigned x) {
    return std::min(std::max(std::size_t{1024} << x, with.size("floor")), with.size("cap"));
  }

  static void execute(run& r) {
    const auto low = static_cast<unsigned>(r.with["low"]);
    const auto high = static_cast<unsigned>(r.with["high"]);
    const auto by = static_cast<unsigned>(r.with["step"]);
    const auto cycles = r.with["cycles"];
    const std::size_t step = touch_step(r.with);
    if (low > high) r.reject("'low' is above 'high'");
    std::size_t most = 1;
    for (unsigned x = low; x <= high; x += by) most = std::max(most, (volume(r.with, x) >> x) + 1);
    mapped_array<object> objects(2 * most * r.threads);

    r.measure([&](worker& w) {
      object* fresh = objects.begin() + 2 * most * w.id;
      object* former = fresh + most;
      std::size_t former_count = 0;
      const auto access = [&](const object& o) {
        w.check_stamp(o.block, o.size, o.key);
        if (!filled(o.block, o.size, o.key, step))
          r.fail("block %p of %zu bytes was overwritten inside", o.block, o.size);
      };
      const auto free_former = [&] {
        std::int64_t bytes = 0;
        for (std::size_t i = 0; i < former_count; ++i) {
          access(former[i]);
          bytes += static_cast<std::int64_t>(former[i].size);
        }
        const std::int64_t begin = now_ns();
        for (std::size_t i = 0; i < former_count; ++i) heap.free(former[i].block);
        w.allocator_ns += now_ns() - begin;
        w.frees += former_count;
        w.live -= bytes;
        w.operations += 2 * former_count;
        former_count = 0;
      };

      for (unsigned x = low; x <= high; x += by) {
        const std::size_t enough = volume(r.with, x);
        for (std::int64_t cycle = 0; cycle < cycles; ++cycle) {
          std::size_t count = 0;
          std::size_t bytes = 0;
          for (; bytes < enough; bytes += fresh[count++].size) {
            fresh[count].size = (std::size_t{1} << x) + w.numbers.below(std::size_t{3} << x);
            fresh[count].key = w.next_key();
          }
          const std::int64_t begin = now_ns();
          for (std::size_t i = 0; i < count; ++i) fresh[i].block = opaque(heap.malloc(fresh[i].size));
          w.allocator_ns += now_ns() - begin;
          w.allocations += count;
          w.live += static_cast<std::int64_t>(bytes);
          for (std::size_t i = 0; i < count; ++i) {
            const object& o = fresh[i];
            w.checked(o.block, o.size);
            stamp(o.block, o.size, o.key);
            fill(o.block, o.size, o.key, step);
          }
          free_former();
          std::swap(fresh, former);
          former_count = count;
        }
        free_former();
      }
    });
  }
};

}  // namespace polder::bench
