#pragma once
// calloc_zero — zeroed memory out of memory that was dirtied before: every byte is looked at.
#include "core/run.hpp"
#include "core/touch.hpp"

namespace polder::bench {

struct calloc_zero {
  static constexpr parameter parameters[] = {
      {"min", 16, 1, 1 << 30, "bytes", "smallest block"},
      {"max", 256 << 10, 1, 1 << 30, "bytes", "greatest block; every octave between is as likely"},
      {"slots", 64, 1, 1'000'000, "blocks", "held by each thread"},
      {"replacements", 60'000, 1, 1'000'000'000, "blocks", "by each thread"},
  };
  static constexpr preset presets[] = {
      {"small", "16 to 512 bytes", "max=512 slots=10000 replacements=3000000"},
      {"large", "256 KB to 16 MB", "min=256K max=16M slots=4 replacements=150"},
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
    if (min > max) r.reject("'min' is above 'max'");
    mapped_array<slot> slots(count * r.threads);

    r.measure([&](worker& w) {
      slot* mine = slots.begin() + w.id * count;
      for (std::int64_t i = 0; i < replacements; ++i) {
        slot& s = mine[w.numbers.below(count)];
        if (s.block != nullptr) w.release(s.block, s.size, s.key);
        s.size = any_magnitude(w.numbers, min, max);
        s.key = w.next_key();
        const std::size_t element = s.size % 8 == 0 ? 8 : 1;
        s.block = w.checked(opaque(std::calloc(s.size / element, element)), s.size);
        ++w.allocations;
        if (!all_zero(s.block, s.size))
          r.fail("calloc gave block %p of %zu bytes that is not all zero", s.block, s.size);
        std::memset(s.block, 0xa5, s.size);
        stamp(s.block, s.size, s.key);
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (mine[i].block != nullptr) w.release(mine[i].block, mine[i].size, mine[i].key);
      }
      w.operations += 2 * static_cast<std::uint64_t>(replacements);
    });
  }
};

}  // namespace polder::bench
