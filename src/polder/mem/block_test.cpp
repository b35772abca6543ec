#include <polder/mem/block.hpp>

#include <gtest/gtest.h>

#include <cstdint>

#include <polder/mem/links.hpp>
#include <polder/os/entropy.hpp>

namespace polder::mem {
namespace {

constexpr secret s = 0x1234'5678'9abc'def0;

TEST(block, looks_free_from_the_link_to_the_wipe) {
  alignas(16) block blocks[2] = {};
  blocks[0].set_link(&blocks[1], s);
  EXPECT_EQ(&blocks[1], blocks[0].link);
  EXPECT_TRUE(blocks[0].looks_free(s));
  blocks[0].wipe();
  EXPECT_FALSE(blocks[0].looks_free(s));
  EXPECT_FALSE(blocks[1].looks_free(s));  // all-zero is not free
}

TEST(block, every_single_flipped_bit_shows) {
  alignas(16) block b{};
  for (block* const link : {static_cast<block*>(nullptr), &b})
    for (unsigned bit = 0; bit != 128; ++bit) {
      b.set_link(link, s);
      reinterpret_cast<unsigned char*>(&b)[bit / 8] ^= 1u << bit % 8;
      EXPECT_FALSE(b.looks_free(s)) << "bit " << bit;
    }
}

TEST(block, the_key_is_good_under_its_own_secret_only) {
  alignas(16) block b{};
  b.set_link(nullptr, s);
  EXPECT_FALSE(b.looks_free(s + 1));
}

// Who takes the first of a list looks at its key only: an empty list must not pass for one with a block.
TEST(block, the_end_of_a_list_looks_free_under_no_secret) {
  for (secret any = 1; any != 0; any <<= 1) {
    EXPECT_FALSE(plain_links::fit(list_end(), any)) << any;
    EXPECT_FALSE(encoded_links::fit(list_end(), any)) << any;
    EXPECT_FALSE(plain_links::fit(list_end(), ~any)) << ~any;
    EXPECT_FALSE(encoded_links::fit(list_end(), ~any)) << ~any;
  }
  EXPECT_NE(0u, os::process_secret());
}

}  // namespace
}  // namespace polder::mem
