#include <polder/mem/size_class/stepped.hpp>

#include <gtest/gtest.h>

namespace polder::mem::size_class {
namespace {

TEST(stepped, every_size_gets_the_smallest_class_that_holds_it) {
  for (std::size_t n = 1; n <= stepped::largest; ++n) {
    const unsigned c = stepped::of(n);
    ASSERT_GE(c, 1u) << n;
    ASSERT_LE(c, stepped::count) << n;
    ASSERT_GE(stepped::size(c), n) << n;
    if (c > 1) {
      ASSERT_LT(stepped::size(c - 1), n) << n;
    }
  }
}

TEST(stepped, the_last_class_is_the_largest_size) {
  EXPECT_EQ(stepped::size(stepped::count), stepped::largest);
  EXPECT_EQ(stepped::of(stepped::largest), stepped::count);
  EXPECT_EQ(stepped::of(0), 1u);
}

TEST(stepped, waste_is_bounded) {
  for (std::size_t n = 17; n <= stepped::largest; ++n) {
    const std::size_t waste = stepped::size(stepped::of(n)) - n;
    if (n <= 256) ASSERT_LT(waste, 16u) << n;
    else if (n <= 8 * KiB) ASSERT_LE(waste * 9, stepped::size(stepped::of(n))) << n;
    else ASSERT_LE(waste * 5, stepped::size(stepped::of(n))) << n;
  }
}

TEST(stepped, block_sizes_keep_sixteen_byte_alignment_and_powers_of_two_are_exact) {
  for (unsigned c = 1; c <= stepped::count; ++c) ASSERT_EQ(stepped::size(c) % 16, 0u) << c;
  for (std::size_t n = 16; n <= stepped::largest; n *= 2) EXPECT_EQ(stepped::size(stepped::of(n)), n);
}

}  // namespace
}  // namespace polder::mem::size_class
