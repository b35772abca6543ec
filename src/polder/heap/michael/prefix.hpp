#pragma once
// prefix — the eight bytes before each block.
//
//   paper      Michael, PLDI 2004, section 3.1: an allocated block's prefix points to the descriptor of its superblock
//              (figure 4, "*addr = desc"); a free one's first word is the index of the next free block
//   in malloc  yes
//   deviation  the three lives of a block can be told from each other, so a free of what is not live is noticed; the free
//              ones carry a hash of their place and a secret, which a program's data does not by chance
//
//   live     descriptor's address | 3
//   fresh    hash:52 | next:10 | 0 | 0     free, never handed out
//   freed    hash:52 | next:10 | 1 | 0     free again
//
// The bits 01 do not occur. A live prefix lies where glibc keeps the size of a chunk, and 3 there means a chunk with a
// mapping of its own, which one at such a place cannot be: another C library's free (a plugin's namespace) stops with a
// message instead of following the number.
//
// A block that is freed also has a key where its user's data begins: a write through a stale pointer is noticed when the
// block is handed out again. A fresh one has none, so that nothing beyond the prefixes is written before it is used.
#include <cstdint>

namespace polder::heap::michael {

enum class life : std::uint8_t { live, fresh, freed, overwritten };

class prefix {
 public:
  using bits = std::uint64_t;

  static bits live(const void* descriptor) { return reinterpret_cast<std::uint64_t>(descriptor) | 3; }
  // `place`: where the prefix lies.
  static constexpr bits fresh(unsigned next, std::uint64_t place, std::uint64_t secret) {
    return hash(place, secret) | std::uint64_t(next) << 2;
  }
  static constexpr bits freed(unsigned next, std::uint64_t place, std::uint64_t secret) {
    return fresh(next, place, secret) | 2;
  }

  // The next free block, of a free one; anything of another.
  static constexpr unsigned next(bits w) { return unsigned(w >> 2 & 0x3ff); }

  static life read(bits w, const void* descriptor, std::uint64_t place, std::uint64_t secret) {
    if (w == live(descriptor)) return life::live;
    if ((w & 1) != 0 || (w & hash_mask) != hash(place, secret)) return life::overwritten;
    return (w & 2) != 0 ? life::freed : life::fresh;
  }
  static constexpr bool is_freed(bits w) { return (w & 2) != 0; }  // of a free one: not fresh
  static constexpr bits key(std::uint64_t place, std::uint64_t secret) { return ~hash(place, secret); }
  static constexpr bool is_free(bits w, std::uint64_t place, std::uint64_t secret) {
    return (w & 1) == 0 && (w & hash_mask) == hash(place, secret);
  }

 private:
  static constexpr std::uint64_t hash_mask = ~std::uint64_t{0xfff};
  static constexpr std::uint64_t hash(std::uint64_t place, std::uint64_t secret) {
    return ((place ^ secret) * 0x9e37'79b9'7f4a'7c15) & hash_mask;
  }
};

}  // namespace polder::heap::michael
