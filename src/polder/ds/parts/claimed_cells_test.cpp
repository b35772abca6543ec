// claimed_cells: what putter and getter of a cell tell each other, step by step, and how many share a line.
#include <polder/ds/parts/claimed_cells.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>

#include <polder/smr/fences.hpp>

namespace polder::ds {
namespace {

using word = std::unique_ptr<long>;
using cells = claimed_cells<word, 20>;

static_assert(cells::size == 21);  // three lines of seven
static_assert(sizeof(claimed_cells<std::uint64_t, 1022>) < 147 * 64 + 8);
static_assert(claimed_cells<char, 9>::size == 16);
static_assert(claimed_cells<std::array<long, 2>, 3>::size == 3);
static_assert(claimed_cells<std::array<long, 8>, 5>::size == 5);

TEST(claimed_cells, who_comes_first_settles_and_a_doubt_stays) {
  smr::fences fences;
  cells c;
  for (std::size_t i = 0; i != 7; ++i) {
    word e = std::make_unique<long>(i);
    ASSERT_TRUE(c.fill(i, e, fences));
    ASSERT_TRUE(c.is_filled(i));
  }
  for (std::size_t i = 0; i != 7; ++i) {
    ASSERT_TRUE(c.wait(i, 1, fences));
    ASSERT_EQ(*c.take(i), long(i));
  }
  ASSERT_FALSE(c.wait(7, 3, fences));  // free -> spoiled
  word e = std::make_unique<long>(7);
  ASSERT_FALSE(c.fill(7, e, fences));
  ASSERT_EQ(*e, 7);
  ASSERT_TRUE(c.fill(8, e, fences));  // free -> full, in doubt
  ASSERT_TRUE(c.wait(8, 1, fences));
  ASSERT_EQ(*c.take(8), 7);
  ASSERT_FALSE(c.wait(cells::size - 1, 1, fences));  // by the fence that was passed
}

TEST(claimed_cells, begins_with_one_that_is_filled) {
  smr::fences fences;
  cells c(std::make_unique<long>(1));
  EXPECT_FALSE(c.is_filled(1));
  ASSERT_TRUE(c.wait(0, 1, fences));
  EXPECT_EQ(*c.take(0), 1);
}

TEST(claimed_cells, where_fences_are_symmetric) {
  const smr::fences fences(smr::fences::choice::symmetric);
  cells c;
  word e = std::make_unique<long>(1);
  ASSERT_FALSE(c.wait(0, 1, fences));
  ASSERT_FALSE(c.fill(0, e, fences));
  ASSERT_TRUE(c.fill(1, e, fences));
  ASSERT_TRUE(c.wait(1, 1, fences));
  EXPECT_EQ(*c.take(1), 1);
}

}  // namespace
}  // namespace polder::ds
