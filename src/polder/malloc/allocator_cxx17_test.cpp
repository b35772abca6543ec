// The standard allocator in a program of C++17, the oldest that its header is written for: test/CMakeLists.txt says so.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include <polder/allocator.hpp>

namespace {

static_assert(__cplusplus == 201703L);

TEST(allocator_cxx17, is_equal_to_all_others_and_unequal_to_none) {
  const polder::allocator<int> a;
  const polder::allocator<double> b;
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a != b);
}

TEST(allocator_cxx17, serves_a_container) {
  std::vector<int, polder::allocator<int>> v(1000, 5), w;
  w = std::move(v);
  EXPECT_EQ(polder_owns(w.data()), 1);
  EXPECT_EQ(w.at(999), 5);
}

}  // namespace
