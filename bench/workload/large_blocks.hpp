#pragma once
// large_blocks — buffers of 64 KB to 8 MB, replaced at random: where many allocators ask the system every time.
#include "core/replacement.hpp"

namespace polder::bench {

struct large_blocks {
  static constexpr parameter parameters[] = {
      replacement::min(64 << 10),
      replacement::max(8 << 20),
      replacement::slots(8),
      replacement::replacements(1500),
      {"touch", 1, 0, 3, "", "what is written and read of a block between its stamps", touch_choices},
  };
  static constexpr preset presets[] = {
      {"untouched", "only head and tail are written: the cost of the addresses alone",
       "touch=ends replacements=20000"},
      {"threshold", "around 128 KB, where glibc begins to map", "min=64K max=256K slots=32 replacements=20000"},
      {"quick", "shorter", "replacements=300"},
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
      .group = "field",
  };

  static void execute(run& r) {
    const std::size_t step = touch_step(r.with);
    const auto make = [step](worker& w, replacement::slot& s) {
      s.block = w.allocate(s.size, s.key);
      fill(s.block, s.size, s.key, step);
    };
    const auto look = [step](worker& w, const replacement::slot& s) {
      if (!filled(s.block, s.size, s.key, step))
        w.of->fail("block %p of %zu bytes was overwritten inside", s.block, s.size);
    };
    replacement::replace_at_random(r, make, look);
  }
};

}  // namespace polder::bench
