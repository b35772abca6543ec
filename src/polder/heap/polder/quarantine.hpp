#pragma once
// quarantine — freed blocks that nobody gets yet: a use after free meets zeroes instead of somebody else's data, and what it
// writes is noticed when the block leaves.
//
//   progress   wait-free, owner only
//   in malloc  yes
//   bound      max_bytes, and a block more while one is admitted
//
// Which block leaves is drawn, so that nobody can tell by counting when an address comes back.
#include <cstddef>
#include <cstdint>

#include <polder/base/check.hpp>
#include <polder/mem/block.hpp>
#include <polder/mem/random.hpp>
#include <polder/sync/glimpsed.hpp>

namespace polder::heap {

// Whether a block is zero behind key and link.
inline bool is_untouched(const mem::block* b, std::size_t bytes) noexcept {
  constexpr std::size_t behind = sizeof(mem::block);
  const auto* const p = reinterpret_cast<const std::byte*>(b) + behind;
  const std::size_t n = bytes - behind;
  // All bytes are zero if the first is, and each is as the one before it.
  return n == 0 || (p[0] == std::byte{} && __builtin_memcmp(p, p + 1, n - 1) == 0);
}

class quarantine {
 public:
  static constexpr std::uint32_t max_blocks = 1024;
  static constexpr std::size_t max_bytes = 512 * 1024;

  // Takes a block of `bytes` in. go(block) is called for those that must leave because of it, which may be this one.
  template <class Go>
  void admit(mem::block* b, std::uint32_t bytes, mem::random& r, Go&& go) {
    blocks_[count_] = b;
    sizes_[count_] = bytes;
    ++count_;
    bytes_ += bytes;
    while (count_ == max_blocks || bytes_ > max_bytes) go(remove(r.below(count_)));
  }

  template <class Go>
  void empty(Go&& go) {
    while (count_ != 0) go(remove(count_ - 1));
  }

  // How many it holds. as_told(block, bytes): whether that is what lies there.
  template <class AsTold>
  std::size_t validate(AsTold as_told) const noexcept {
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i != count_; ++i) {
      must(as_told(blocks_[i], sizes_[i]));
      bytes += sizes_[i];
    }
    must(count_ < max_blocks && bytes == bytes_ && bytes <= max_bytes);
    return count_;
  }

  // Calls f(bytes) for each block in it, as another thread happens to see them.
  template <class F>
  void glimpse_at_sizes(F f) const noexcept {
    const std::uint32_t seen = count_.glimpse();
    for (std::uint32_t i = 0; i < seen && i < max_blocks; ++i) f(sizes_[i].glimpse());
  }

 private:
  mem::block* remove(std::uint32_t i) {
    mem::block* const b = blocks_[i];
    bytes_ -= sizes_[i];
    --count_;
    blocks_[i] = blocks_[count_];
    sizes_[i] = sizes_[count_];
    return b;
  }

  glimpsed<std::uint32_t> count_;  // all-zero memory is an empty one
  std::size_t bytes_;
  mem::block* blocks_[max_blocks];
  glimpsed<std::uint32_t> sizes_[max_blocks];
};

}  // namespace polder::heap
