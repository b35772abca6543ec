#include <polder/heap/supermalloc/size_classes.hpp>

#include <gtest/gtest.h>

#include <set>

namespace polder::heap::supermalloc {
namespace {

using classes = size_classes;

bool is_prime(std::size_t n) {
  for (std::size_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

TEST(supermalloc_classes, of_every_size_the_smallest_that_holds_it) {
  EXPECT_EQ(1u, classes::of(0));
  unsigned c = 1;
  for (std::size_t n = 1; n < classes::huge_from; ++n) {
    if (n > classes::block_size[c]) ++c;
    ASSERT_EQ(c, classes::of(n)) << n;
  }
  EXPECT_EQ(classes::count, c);
  EXPECT_EQ(0u, classes::of(MiB)) << "the thesis: huge from 1 MB on";
  EXPECT_EQ(0u, classes::of(~std::size_t{0}));
}

TEST(supermalloc_classes, between_256_and_16_KiB_a_prime_number_of_lines_or_a_power_of_two) {
  for (unsigned c = 1; c <= classes::count; ++c) {
    const std::size_t n = classes::block_size[c];
    ASSERT_EQ(0u, n % min_alignment);
    ASSERT_LT(classes::block_size[c - 1], n);
    if (n > 256 && n < 16 * KiB && !is_power_of_two(n)) {
      ASSERT_EQ(0u, n % cache_line);
      EXPECT_TRUE(is_prime(n / cache_line)) << n;
    }
    EXPECT_TRUE(n <= 16 * KiB || n % folio_page == 0) << n;
  }
}

// What the primes are for: 512 blocks in a row use all, or nearly all, of the 64 sets of a first-level cache with their
// first lines; blocks of a power of two of bytes use a few.
TEST(supermalloc_classes, first_lines_of_blocks_in_a_row_fall_into_all_sets) {
  const auto sets = [](std::size_t size) {
    std::set<std::size_t> used;
    for (std::size_t i = 0; i < 512; ++i) used.insert(i * size / cache_line % 64);
    return used.size();
  };
  EXPECT_EQ(64u, sets(157 * cache_line));
  EXPECT_EQ(1u, sets(8 * KiB));
  for (unsigned c = 1; c <= classes::count; ++c) {
    const std::size_t n = classes::block_size[c];
    const bool prime = n > 256 && n < 16 * KiB && !is_power_of_two(n);
    EXPECT_TRUE(!prime || sets(n) == 64) << n;
  }
}

TEST(supermalloc_classes, waste_within_a_block) {
  for (unsigned c = 2; c <= classes::count; ++c) {
    const double n = classes::block_size[c];
    const double wasted = (n - classes::block_size[c - 1] - 1) / n;
    EXPECT_LT(wasted, n <= 64 ? 0.5 : n <= 256 || n > 16 * KiB ? 0.201 : 0.3) << n;
  }
}

TEST(supermalloc_classes, folios_hold_whole_blocks_and_waste_little) {
  for (unsigned c = 1; c <= classes::count; ++c) {
    const std::size_t bytes = classes::folio_bytes(c);
    const std::size_t size = classes::block_size[c];
    ASSERT_GE(classes::blocks_per_folio(c), 1u);
    ASSERT_LE(classes::blocks_per_folio(c), 256u);
    EXPECT_LE(bytes % size * 32, bytes) << size;
    EXPECT_TRUE(size > 64 * KiB || bytes <= 64 * KiB) << size;
    for (std::uint32_t offset = 0; offset < bytes; offset += 8)
      ASSERT_EQ(offset % size == 0, classes::begins_a_block(c, offset)) << size << ' ' << offset;
    for (std::uint32_t offset = 0; offset < 2 * MiB; offset += 2 * KiB)
      ASSERT_EQ(offset / bytes, classes::folio_at(c, offset)) << size << ' ' << offset;
  }
}

TEST(supermalloc_classes, aligned_requests_have_a_class) {
  for (std::size_t alignment = 16; alignment <= MiB; alignment *= 2)
    for (std::size_t n : {std::size_t{0}, std::size_t{1}, alignment / 2, alignment - 1, alignment, alignment + 1,
                          3 * alignment / 2, 2 * alignment}) {
      const unsigned c = classes::aligned(n, alignment);
      if (n >= MiB) {
        ASSERT_EQ(0u, c) << n << ' ' << alignment;
        continue;
      }
      if (c == 0) {
        EXPECT_GT(n, MiB / 2) << n << ' ' << alignment;
        continue;
      }
      ASSERT_GE(classes::block_size[c], n);
      ASSERT_EQ(0u, classes::block_size[c] % alignment);
      ASSERT_EQ(0u, classes::folio_bytes(c) % alignment);
    }
  EXPECT_EQ(0u, classes::aligned(1, 2 * MiB));
}

TEST(supermalloc_classes, realloc_keeps_what_still_uses_half) {
  const unsigned c = classes::of(1000);
  EXPECT_TRUE(classes::keeps(c, classes::block_size[c]));
  EXPECT_FALSE(classes::keeps(c, classes::block_size[c] + 1));
  EXPECT_FALSE(classes::keeps(c, classes::block_size[c] / 2));
  EXPECT_TRUE(classes::keeps(1, 0));
}

}  // namespace
}  // namespace polder::heap::supermalloc
