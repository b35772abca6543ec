#pragma once
// calloc_zero — zeroed memory out of memory that was dirtied before: every byte is looked at.
#include "core/replacement.hpp"

namespace polder::bench {

struct calloc_zero {
  static constexpr parameter parameters[] = {
      replacement::min(16),
      replacement::max(256 << 10),
      replacement::slots(64),
      replacement::replacements(60'000),
  };
  static constexpr preset presets[] = {
      {"small", "16 to 512 bytes", "max=512 slots=10000 replacements=3000000"},
      {"large", "256 KB to 16 MB", "min=256K max=16M slots=4 replacements=150"},
      {"quick", "shorter", "replacements=15000"},
      {"smoke", "for tests", "max=64K slots=32 replacements=1500"},
  };
  static constexpr workload_info info{
      .name = "calloc_zero",
      .title = "Zeroed blocks",
      .paper = "the field since; requirement: calloc is zero, always",
      .what = "Each thread replaces blocks by calloc, verifies that all is zero, fills them, frees them later.",
      .shows = "Whether memory known to be zero is not cleared again; and whether it really is zero.",
      .parameters = parameters,
      .presets = presets,
      .group = "field",
  };

  static void execute(run& r) {
    const auto make = [](worker& w, replacement::slot& s) {
      const std::size_t element = s.size % 8 == 0 ? 8 : 1;
      s.block = w.checked(opaque(heap.calloc(s.size / element, element)), s.size);
      w.took(s.size);
      if (!all_zero(s.block, s.size))
        w.of->fail("calloc gave block %p of %zu bytes that is not all zero", s.block, s.size);
      std::memset(s.block, 0xa5, s.size);
      stamp(s.block, s.size, s.key);
    };
    replacement::replace_at_random(r, make, [](worker&, const replacement::slot&) {});
  }
};

}  // namespace polder::bench
