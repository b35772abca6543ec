// The standard allocator in a program of C++23, whose containers may ask it for room for so many or more:
// test/CMakeLists.txt says so.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <polder/allocator.hpp>

namespace {

static_assert(__cplusplus > 202002L);

#ifdef __cpp_lib_allocate_at_least
static_assert(
    std::is_same_v<decltype(polder::allocator<int>().allocate_at_least(1)), std::allocation_result<int*>>);
#if __cpp_lib_allocate_at_least >= 202302  // before, the library had it elsewhere
TEST(allocator_cxx23, gives_its_traits_room_for_so_many_or_more) {
  polder::allocator<int> a;
  const auto [p, count] = std::allocator_traits<polder::allocator<int>>::allocate_at_least(a, 100);
  EXPECT_GE(count, 100u);
  EXPECT_EQ(polder_owns(p), 1);
  a.deallocate(p, count);
}
#endif
#endif

TEST(allocator_cxx23, serves_containers) {
  std::vector<int, polder::allocator<int>> v;
  for (int n = 0; n != 1000; ++n) v.push_back(n);
  EXPECT_EQ(polder_owns(v.data()), 1);
  EXPECT_EQ(v.at(999), 999);
  const std::basic_string<char, std::char_traits<char>, polder::allocator<char>> s(1000, 'x');
  EXPECT_EQ(polder_owns(s.data()), 1);
}

}  // namespace
