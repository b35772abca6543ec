// validate — what must hold of the pool and of huge blocks while nobody is at them.
#include <bit>

#include <polder/base/check.hpp>
#include <polder/mem/grain_pool.hpp>
#include <polder/mem/huge_blocks.hpp>

#if POLDER_CHECK_LEVEL >= 2

namespace polder::mem {

void grain_pool::validate() const noexcept {
  std::size_t in_use = 0, spare = 0;
  const auto look = [&](chunk_number from, chunk_number to) {
    for (chunk_number c = from; c < to; ++c) {
      if (!arena_.ready(c)) continue;
      const chunk& k = arena_.chunk(c);
      const std::uint64_t taken = k.taken.taken(), dirty = k.dirty.load(order::relaxed);
      // Grains that are nobody's: number 0, those beyond the arena's end, those that an extra chunk does not have.
      std::uint64_t none = c == 0 ? 1 : 0;
      if (c >= arena_.main_chunks()) {
        none = ~low_ones(k.grains.load(order::relaxed));
      } else if (c + 1 == arena_.main_chunks()) {
        none |= ~low_ones(unsigned((arena_.bytes() - std::size_t{c} * chunk_size) >> grain_shift));
      }
      must((taken & none) == none && (dirty & taken) == 0);
      must(dirty == 0 || (arena_.summary(c).load(order::relaxed) & arena::summary_bit(c)) != 0);
      in_use += unsigned(std::popcount(taken & ~none));
      spare += unsigned(std::popcount(dirty));
    }
  };
  look(0, arena_.main_open());
  look(arena_.main_chunks(), arena_.main_chunks() + arena_.extra_open());
  const counts now = count();
  must(now.taken == in_use && now.dirty == spare);
}

void huge_blocks::validate() const noexcept {
  const std::uint32_t made = records_.made();
  const auto link = [this](std::uint32_t n) -> atomic<std::uint32_t>& { return records_.at(n).next; };
  std::size_t places = 0, live = 0, spare = 0;
  for (std::uint32_t n = 1; n <= made; ++n) {
    const record& r = records_.at(n);
    const std::uintptr_t user = r.user.load(order::relaxed);
    if (user == 0) continue;
    ++places;
    live += r.bytes.get();
    must(map_.find(user) == (radix_map::huge_mark | n) && r.bytes.get() % page_ == 0);
    must(user - address(r.base.get()) < r.bytes.get() && r.asked.get() <= usable(n));
  }
  const auto without_user = [&](std::uint32_t n) {
    must(++places <= made && n <= made && records_.at(n).user.load(order::relaxed) == 0);
  };
  for (const auto& slot : cache_) {
    const std::uint64_t v = slot.load(order::relaxed);
    if (v == 0) continue;
    without_user(cached::number(v));
    must(cached::pages(v) * page_ == records_.at(cached::number(v)).bytes.get());
    spare += cached::pages(v) * page_;
  }
  free_numbers_.walk(link, without_user);
  stuck_.walk(link, without_user);
  must(places == made && live == live_bytes() && spare == cached_bytes());
}

}  // namespace polder::mem

#endif
