#include <polder/mem/size_class/geometric4.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace polder::mem::size_class {
namespace {

TEST(geometric4, is_the_papers_series_without_what_breaks_alignment) {
  std::vector<std::size_t> series;
  for (std::size_t x = 4; x <= 8 * KiB; x *= 2)
    for (std::size_t s : {x, x + x / 4, x + x / 2, x + x / 2 + x / 4})
      if (s % 16 == 0) series.push_back(s);
  series.push_back(16 * KiB);
  ASSERT_EQ(geometric4::count, series.size());
  for (unsigned c = 1; c <= geometric4::count; ++c) EXPECT_EQ(series[c - 1], geometric4::size(c)) << c;
}

TEST(geometric4, every_size_gets_the_smallest_class_that_holds_it) {
  EXPECT_EQ(1u, geometric4::of(0));
  for (std::size_t n = 1; n <= geometric4::largest; ++n) {
    const unsigned c = geometric4::of(n);
    ASSERT_TRUE(c >= 1 && c <= geometric4::count) << n;
    ASSERT_GE(geometric4::size(c), n);
    if (c > 1) {
      ASSERT_LT(geometric4::size(c - 1), n) << n;
    }
  }
  EXPECT_EQ(geometric4::count, geometric4::of(geometric4::largest));
}

TEST(geometric4, waste_is_bounded) {
  for (std::size_t n = 1; n <= geometric4::largest; ++n) {
    const std::size_t waste = geometric4::size(geometric4::of(n)) - n;
    if (n <= 128) ASSERT_LT(waste, 16u) << n;
    else ASSERT_LT(waste * 4, n) << n;
  }
}

TEST(geometric4, powers_of_two_are_exact) {
  for (std::size_t n = 16; n <= geometric4::largest; n *= 2) EXPECT_EQ(n, geometric4::size(geometric4::of(n)));
}

}  // namespace
}  // namespace polder::mem::size_class
