// Every size, every class: the waste, the real spans, and the arithmetic of the arena.
#include <polder/heap/scalloc/size_classes.hpp>

#include <gtest/gtest.h>

#include <set>

namespace polder::heap::scalloc {
namespace {

TEST(scalloc_size_classes, the_smallest_that_holds_each_size) {
  for (std::size_t n = 0; n <= size_classes::largest; ++n) {
    const unsigned c = size_classes::of(n);
    ASSERT_GE(size_classes::block_size[c], n);
    ASSERT_TRUE(c == 1 || size_classes::block_size[c - 1] < n) << n;
  }
  EXPECT_EQ(0u, size_classes::of(MiB + 1));
  EXPECT_EQ(0u, size_classes::of(SIZE_MAX));
}

TEST(scalloc_size_classes, waste_less_than_half_above_16_bytes) {
  for (std::size_t n = 17; n <= size_classes::largest; ++n)
    ASSERT_LT(2 * (size_classes::block_size[size_classes::of(n)] - n),
              size_classes::block_size[size_classes::of(n)]);
}

TEST(scalloc_size_classes, twenty_eight_and_nine_real_spans) {
  std::set<std::uint32_t> sizes, spans;
  for (unsigned c = 1; c <= size_classes::count; ++c) {
    sizes.insert(size_classes::block_size[c]);
    spans.insert(real_spans::bytes[real_spans::index[c]]);
    EXPECT_EQ(c <= 16 ? c * 16 : 256u << (c - 16), size_classes::block_size[c]);
    EXPECT_EQ(c <= 16, real_spans::index[c] == 0) << "the fine classes share one real span, and nobody else has it";
  }
  EXPECT_EQ(28u, sizes.size());
  EXPECT_EQ(9u, spans.size());
  for (std::uint32_t bytes : spans) EXPECT_EQ(0u, bytes % 4096);
  EXPECT_LE(*spans.rbegin(), 2 * MiB) << "the largest fits the smallest virtual span";
}

TEST(scalloc_size_classes, as_many_blocks_as_the_paper_says) {
  EXPECT_EQ(127u, real_spans::blocks[size_classes::of(256)]);
  for (unsigned c = 1; c <= size_classes::count; ++c) {
    EXPECT_GE(real_spans::blocks[c], 1u);
    EXPECT_LE(real_spans::blocks[c], 0xffffu) << "a count has 16 bits";
    EXPECT_GE(real_spans::first[c], header_bytes);
    EXPECT_LE(real_spans::end[c], real_spans::bytes[real_spans::index[c]]);
    EXPECT_LT(real_spans::bytes[real_spans::index[c]] - real_spans::end[c], size_classes::block_size[c]);
  }
}

TEST(scalloc_size_classes, only_block_beginnings_are_blocks) {
  for (std::size_t virtual_span : {64 * KiB, 256 * KiB, 2 * MiB, 8 * MiB}) {
    const span_cuts cuts(virtual_span);
    for (unsigned c = 1; c <= size_classes::count; ++c) {
      const std::uint32_t step = c <= 20 ? 1 : 512;
      unsigned found = 0;
      for (std::uint32_t at = 0; at < cuts.real(c) + 4096; at += step) {
        const bool is = cuts.is_block(c, at);
        ASSERT_EQ(is, at >= real_spans::first[c] && at < cuts.end(c) && at % size_classes::size(c) == 0);
        found += is;
      }
      ASSERT_EQ(cuts.blocks(c), found) << c;
      ASSERT_LE(cuts.blocks(c), 0xffffu);
      ASSERT_LE(cuts.real(c), virtual_span);
      if (virtual_span >= 2 * MiB) {
        ASSERT_EQ(real_spans::blocks[c], found);
      }
    }
  }
}

TEST(scalloc_size_classes, alignments) {
  for (std::size_t alignment = 16; alignment <= MiB; alignment *= 2)
    for (std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{3000}, alignment}) {
      const unsigned c = size_classes::aligned(n, alignment);
      ASSERT_NE(0u, c);
      EXPECT_GE(size_classes::block_size[c], n);
      EXPECT_EQ(0u, real_spans::first[c] % alignment);
      EXPECT_EQ(0u, size_classes::block_size[c] % alignment);
    }
  EXPECT_EQ(0u, size_classes::aligned(1, 2 * MiB));
}

// Section 3.2: 2^45 / 2^21 · 2^14 = 2^38 bytes, and 2 TB where the arena has all 48 bits.
TEST(scalloc_capacity, is_as_the_paper_says) {
  EXPECT_EQ(256 * GiB, capacity(32 * TiB, 2 * MiB, 16 * KiB));
  EXPECT_EQ(std::size_t{1} << 38, capacity(32 * TiB, 2 * MiB, 16 * KiB));
  EXPECT_EQ(2 * TiB, capacity(256 * TiB, 2 * MiB, 16 * KiB));
  EXPECT_EQ(512 * GiB, capacity(32 * TiB, 2 * MiB, real_spans::smallest)) << "with our smallest real span";
  EXPECT_EQ(8 * GiB, capacity(32 * TiB, 128 * MiB, real_spans::smallest));
}

}  // namespace
}  // namespace polder::heap::scalloc
