#pragma once
// tagged_links — two links to other blocks, each beside a tag of the block that holds them: a block that was overwritten is
// recognized before a link of it is followed.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace polder::bench {

struct tagged_links {
  using byte = unsigned char;

  static constexpr std::size_t least = 16;  // bytes of a block

  byte* left;
  byte* right;

  // The last byte of a block is written too, where it belongs to none of these.
  void write(byte* block, std::size_t size, std::uint16_t tag) const {
    const std::uint64_t words[] = {reinterpret_cast<std::uintptr_t>(left) << 16 | tag,
                                   reinterpret_cast<std::uintptr_t>(right) | std::uint64_t{tag} << 48};
    static_assert(sizeof words == least);
    std::memcpy(block, words, sizeof words);
    if (size > sizeof words) block[size - 1] = static_cast<byte>(tag);
  }

  // False: the block was overwritten.
  [[nodiscard]] bool read(const byte* block, std::size_t size, std::uint16_t tag) {
    std::uint64_t words[2];
    std::memcpy(words, block, sizeof words);
    left = reinterpret_cast<byte*>(words[0] >> 16);
    right = reinterpret_cast<byte*>(words[1] << 16 >> 16);
    const bool whole = size <= sizeof words || block[size - 1] == static_cast<byte>(tag);
    return static_cast<std::uint16_t>(words[0]) == tag && words[1] >> 48 == tag && whole;
  }
};

}  // namespace polder::bench
