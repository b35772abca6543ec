#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <polder/memory_resource.hpp>

namespace {

TEST(memory_resource, containers_live_in_the_heap) {
  std::pmr::map<int, std::pmr::string> m(polder::resource());
  for (int i = 0; i < 1000; ++i) m.emplace(i, std::string(std::size_t(i), 'x'));
  for (const auto& [i, text] : m) ASSERT_EQ(text.size(), std::size_t(i));
  EXPECT_EQ(polder_owns(m.at(900).data()), 1);
}

TEST(memory_resource, keeps_every_alignment) {
  for (std::size_t alignment = 1; alignment <= 1 << 16; alignment *= 2) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, alignment, 3 * alignment}) {
      void* const p = polder::resource()->allocate(n, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u) << alignment;
      polder::resource()->deallocate(p, n, alignment);
    }
  }
}

TEST(memory_resource, all_are_one_heap) {
  polder::memory_resource other;
  EXPECT_TRUE(other.is_equal(*polder::resource()));
  EXPECT_FALSE(other.is_equal(*std::pmr::new_delete_resource()));
  void* const p = other.allocate(100);
  polder::resource()->deallocate(p, 100);
}

TEST(memory_resource, out_of_memory_throws) {
  volatile std::size_t n = PTRDIFF_MAX;
  EXPECT_THROW(static_cast<void>(polder::resource()->allocate(n)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(polder::resource()->allocate(n, 4096)), std::bad_alloc);
}

}  // namespace
