#pragma once
// replacement — each thread holds some blocks of any magnitude and replaces one at random, again and again: the frame of
// the workloads that differ only in where the blocks come from and what is done with them.
#include "core/run.hpp"
#include "core/touch.hpp"

namespace polder::bench::replacement {

constexpr parameter min(std::int64_t standard) {
  return {"min", standard, 1, 1LL << 30, "bytes", "smallest block"};
}
constexpr parameter max(std::int64_t standard) {
  return {"max", standard, 1, 1LL << 32, "bytes", "greatest block; every octave between is as likely"};
}
constexpr parameter slots(std::int64_t standard) {
  return {"slots", standard, 1, 1'000'000, "blocks", "held by each thread"};
}
constexpr parameter replacements(std::int64_t standard) {
  return {"replacements", standard, 1, 1'000'000'000, "blocks", "by each thread"};
}

struct slot {
  void* block = nullptr;
  std::size_t size = 0;
  std::uint64_t key = 0;
};

// make(worker, slot) allocates and stamps slot.block; look(worker, slot) sees whether all of its contents are there
// still, and is followed by the free, which looks at the stamps.
template <class Make, class Look>
void replace_at_random(run& r, Make make, Look look) {
  const std::size_t min = r.with.size("min");
  const std::size_t max = r.with.size("max");
  const std::size_t count = r.with.size("slots");
  const auto replacements = r.with["replacements"];
  if (min > max) r.reject("'min' is above 'max'");
  mapped_array<slot> slots(count * r.threads);

  r.measure([&](worker& w) {
    slot* mine = slots.begin() + w.id * count;
    const auto empty = [&](slot& s) {
      if (s.block == nullptr) return;
      look(w, s);
      w.release(s.block, s.size, s.key);
      s.block = nullptr;
    };
    for (std::int64_t i = 0; i < replacements; ++i) {
      slot& s = mine[w.numbers.below(count)];
      empty(s);
      s.size = any_magnitude(w.numbers, min, max);
      s.key = w.next_key();
      make(w, s);
    }
    for (std::size_t i = 0; i < count; ++i) empty(mine[i]);
    w.operations += 2 * static_cast<std::uint64_t>(replacements);
  });
}

}  // namespace polder::bench::replacement
