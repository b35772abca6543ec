#pragma once
// links — how a list of free blocks is written into the blocks: plainly, or so that who reads a block learns nothing from it.
//
//                     key (bytes 0..7)                   link (bytes 8..15)
//   plain_links       secret ^ link                      the next block's address
//   encoded_links     mixed(link as stored, secret)      the next block's address ^ a mask of secret and the block's own place
//
// Both notice a second free and a block that was written to (mem/block.hpp). What encoding adds: a program that can be made to
// read a free block gives away neither addresses nor the secret, and a link copied from one block to another does not fit. It
// is no cipher: who can read many blocks and knows where they lie can compute the secret.
#include <bit>
#include <cstdint>

#include <polder/mem/block.hpp>

namespace polder::mem {

struct plain_links {
  // Out of the key: who has just asked whether the two fit has it already.
  POLDER_ALWAYS_INLINE static block* next(const block* b, const secret& s) {
    return reinterpret_cast<block*>(at_address(b->next_by_key(s)));
  }
  POLDER_ALWAYS_INLINE static void set(block* b, block* next, const secret& s) { b->set_link(next, s); }
  POLDER_ALWAYS_INLINE static bool fit(const block* b, const secret& s) { return b->looks_free(s); }
};

struct encoded_links {
  POLDER_ALWAYS_INLINE static block* next(const block* b, secret s) {
    return reinterpret_cast<block*>(at_address(address(b->link) ^ mask(b, s)));
  }
  POLDER_ALWAYS_INLINE static void set(block* b, block* next, secret s) {
    b->link = reinterpret_cast<block*>(at_address(address(next) ^ mask(b, s)));
    b->key = key(b, s);
  }
  POLDER_ALWAYS_INLINE static bool fit(const block* b, secret s) { return b->key == key(b, s); }

 private:
  static std::uint64_t mask(const block* b, secret s) {
    return std::rotl(s, 23) ^ (address(b) >> 4) * 0x9e37'79b9'7f4a'7c15;
  }
  static std::uint64_t key(const block* b, secret s) {
    const std::uint64_t x = (address(b->link) ^ s) * (s | 1);
    return x ^ x >> 32;
  }
};

}  // namespace polder::mem
