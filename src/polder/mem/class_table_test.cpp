#include <polder/base/align.hpp>
#include <polder/mem/class_table.hpp>
#include <polder/mem/size_class/stepped.hpp>

#include <gtest/gtest.h>

namespace polder::mem {
namespace {

using table = class_table<size_class::stepped>;

TEST(class_table, one_multiplication_tells_divisibility_for_every_offset_in_a_grain) {
  for (unsigned c = 1; c <= table::count; ++c)
    for (std::uint32_t offset = 0; offset < grain_size; ++offset)
      ASSERT_EQ(divides(table::multiplier[c], offset), offset % table::block_size[c] == 0) << c << ' ' << offset;
}

TEST(class_table, the_same_multiplication_tells_the_first_so_many_multiples) {
  for (unsigned c = 1; c <= table::count; ++c) {
    const std::uint32_t size = table::block_size[c], m = table::multiplier[c],
                        capacity = table::usable_bytes[c] / size;
    for (const std::uint32_t n : {0u, 1u, capacity / 2, capacity - 1, capacity}) {
      for (std::uint32_t offset = 0; offset < grain_size; ++offset)
        ASSERT_EQ(scaled(m, offset) < scaled(m, n * size), offset % size == 0 && offset / size < n)
            << c << ' ' << n << ' ' << offset;
    }
  }
}

TEST(class_table, an_aligned_class_holds_the_size_and_keeps_the_alignment) {
  for (std::size_t alignment = 1; alignment <= 32 * KiB; alignment *= 2)
    for (std::size_t n = 1; n <= 32 * KiB; n += 37) {
      const unsigned c = table::aligned(n, alignment);
      ASSERT_NE(c, 0u) << n << ' ' << alignment;
      ASSERT_GE(table::block_size[c], n);
      ASSERT_EQ(table::block_size[c] % alignment, 0u);
    }
  // Of what small sizes and alignments come to, malloc's fast path needs no search.
  for (std::size_t alignment = 1; alignment <= KiB; alignment *= 2)
    for (std::size_t n = 1; n <= KiB; ++n)
      ASSERT_EQ(table::aligned(n, alignment), size_class::stepped::of(align_up(n, alignment)))
          << n << ' ' << alignment;
  EXPECT_EQ(table::aligned(1, 64 * KiB), 0u);
  EXPECT_EQ(table::aligned(32 * KiB + 1, 16), 0u);
}

}  // namespace
}  // namespace polder::mem
