#pragma once
// large_blocks — buffers of 64 KB to 8 MB, replaced at random: where many allocators ask the system every time.
#include "core/run.hpp"
#include "core/touch.hpp"

namespace polder::bench {

struct large_blocks {
  static constexpr parameter parameters[] = {
      {"min", 64 << 10, 16, 1LL << 30, "bytes", "smallest block"},
      {"max", 8 << 20, 16, 1LL << 32, "bytes", "greatest block; every octave between is as likely"},
      {"slots", 8, 1, 1'000'000, "blocks", "held by each thread"},
      {"replacements", 1500, 1, 1'000'000'000, "blocks", "by each thread"},
      {"touch", 1, 0, 3, "", "what is written and read of a block between its stamps", touch_choices},
  };
  static constexpr preset presets[] = {
      {"untouched", "only head and tail are written: the cost of the addresses alone",
       "touch=ends replacements=20000"},
      {"threshold", "around 128 KB, where glibc begins to map", "min=64K max=256K slots=32 replacements=20000"},
      {"smoke", "for tests", "max=1M slots=16 replacements=600"},
  };
  static constexpr workload_info info{
      .name = "large_blocks",
      .title = "Large blocks",
      .paper = "the field since (mimalloc-bench: large blocks); scalloc sec. 7.5 above 1 MB",
      .what = "Each thread holds a few large blocks and replaces one at random, of random size, again and again.",
      .shows = "Whether large memory is kept for reuse: system calls, page faults, and the memory that costs.",
      .parameters = parameters,
      .presets = presets,
  };

  struct slot {
    void* block = nullptr;
    std::size_t size = 0;
    std::uint64_t key = 0;
  };

  static void execute(run& r) {
    const std::size_t min = r.with.size("min");
    const std::size_t max = r.with.size("max");
    const std::size_t count = r.with.size("slots");
    const auto replacements = r.with["replacements"];
    const std::size_t step = touch_step(r.with);
    if (min > max) r.reject("'min' is above 'max'");
    mapped_array<slot> slots(count * r.threads);

    r.measure([&](worker& w) {
      slot* mine = slots.begin() + w.id * count;
      const auto empty = [&](slot& s) {
        if (s.block == nullptr) return;
        if (!filled(s.block, s.size, s.key, step))
          r.fail("block %p of %zu bytes was overwritten inside", s.block, s.size);
        w.release(s.block, s.size, s.key);
        s.block = nullptr;
      };
      for (std::int64_t i = 0; i < replacements; ++i) {
        slot& s = mine[w.numbers.below(count)];
        empty(s);
        s.size = any_magnitude(w.numbers, min, max);
        s.key = w.next_key();
        s.block = w.allocate(s.size, s.key);
        fill(s.block, s.size, s.key, step);
      }
      for (std::size_t i = 0; i < count; ++i) empty(mine[i]);
      w.operations += 2 * static_cast<std::uint64_t>(replacements);
    });
  }
};

}  // namespace polder::bench
