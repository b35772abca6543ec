#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include <polder/allocator.hpp>

namespace {

struct alignas(128) wide {
  char c[128];
};

TEST(allocator, containers_live_in_the_heap) {
  std::vector<int, polder::allocator<int>> v;
  for (int i = 0; i < 100'000; ++i) v.push_back(i);
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(v[std::size_t(i)], i);
  EXPECT_EQ(polder_owns(v.data()), 1);

  std::unordered_map<int, int, std::hash<int>, std::equal_to<>, polder::allocator<std::pair<const int, int>>> m;
  for (int i = 0; i < 10'000; ++i) m[i] = i;
  EXPECT_EQ(m.size(), 10'000u);
}

TEST(allocator, keeps_the_alignment_of_its_type) {
  std::list<wide, polder::allocator<wide>> l(100);
  for (const wide& w : l) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % 128, 0u);
}

TEST(allocator, is_stateless_whatever_the_type) {
  using ints = polder::allocator<int>;
  static_assert(std::allocator_traits<ints>::is_always_equal::value);
  static_assert(std::is_empty_v<ints>);
  EXPECT_EQ(ints(), polder::allocator<wide>());
  const auto p = std::allocate_shared<int>(ints(), 5);
  EXPECT_EQ(*p, 5);
}

TEST(allocator, at_least_gives_all_the_room_there_is) {
  polder::allocator<std::uint64_t> a;
  for (std::size_t n = 1; n < 5000; n += 37) {
    const auto [p, count] = a.allocate_at_least(n);
    ASSERT_GE(count, n);
    for (std::size_t i = 0; i < count; ++i) p[i] = i;
    a.deallocate(p, n % 2 == 0 ? n : count);
  }
  polder::allocator<wide> w;
  const auto [p, count] = w.allocate_at_least(3);
  EXPECT_EQ(count, 3u);
  w.deallocate(p, count);
}

TEST(allocator, says_what_went_wrong) {
  volatile std::size_t n = SIZE_MAX / 4;
  EXPECT_THROW(static_cast<void>(polder::allocator<int>().allocate(n)), std::bad_array_new_length);
  EXPECT_THROW(static_cast<void>(polder::allocator<wide>().allocate(n)), std::bad_array_new_length);
  n = PTRDIFF_MAX / sizeof(int);
  EXPECT_THROW(static_cast<void>(polder::allocator<int>().allocate(n)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(polder::allocator<int>().allocate_at_least(n)), std::bad_alloc);
}

}  // namespace
