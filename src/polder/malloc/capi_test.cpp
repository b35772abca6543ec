#include <gtest/gtest.h>
#include <polder.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace {

TEST(capi, a_batch_is_as_many_blocks_of_that_size) {
  for (const std::size_t size : {0, 1, 16, 100, 5000, 100'000}) {
    std::vector<void*> blocks(100);
    ASSERT_EQ(polder_malloc_batch(size, blocks.size(), blocks.data()), blocks.size());
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
    for (void* p : blocks) {
      ASSERT_GE(polder_usable_size(p), size);
      std::memset(p, 0x5a, size);
    }
    for (std::size_t i = 0; i < blocks.size(); i += 7) polder_free(blocks[i]), blocks[i] = nullptr;
    polder_free_batch(blocks.data(), blocks.size());
  }
  polder_free_batch(nullptr, 0);
  EXPECT_EQ(polder_malloc_batch(16, 0, nullptr), 0u);
}

TEST(capi, a_batch_takes_blocks_of_any_size_and_origin) {
  std::vector<void*> blocks;
  for (std::size_t size = 1; size < 3'000'000; size = size * 3 / 2 + 1) {
    blocks.push_back(polder_malloc(size));
    blocks.push_back(polder_aligned_alloc(4096, size));
    blocks.push_back(polder_calloc(size, 1));
  }
  polder_free_batch(blocks.data(), blocks.size());
}

TEST(capi, a_batch_that_cannot_be_had_in_full_says_so) {
  void* blocks[3];
  errno = 0;
  volatile std::size_t n = SIZE_MAX;
  EXPECT_EQ(polder_malloc_batch(n, 3, blocks), 0u);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(capi, at_least_tells_the_usable_size) {
  for (std::size_t size = 0; size < 70'000; size += 111) {
    const polder_allocation a = polder_allocate_at_least(size);
    ASSERT_NE(a.ptr, nullptr);
    EXPECT_GE(a.size, size);
    EXPECT_EQ(a.size, polder_usable_size(a.ptr));
    std::memset(a.ptr, 1, a.size);
    polder_free_sized(a.ptr, size % 2 == 0 ? size : a.size);
  }
  errno = 0;
  volatile std::size_t n = SIZE_MAX;
  EXPECT_EQ(polder_allocate_at_least(n).ptr, nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(capi, a_sized_free_takes_the_size_that_realloc_was_given) {
  for (const std::size_t from : {10, 100, 5000, 100'000}) {
    for (const std::size_t to : {10, 90, 100, 4000, 5000, 60'000, 200'000}) {
      polder_free_sized(polder_realloc(polder_malloc(from), to), to);
    }
  }
}

TEST(capi, owns) {
  void* const p = polder_malloc(100);
  int local = 0;
  EXPECT_EQ(polder_owns(p), 1);
  EXPECT_EQ(polder_owns(&local), 0);
  EXPECT_EQ(polder_owns(nullptr), 0);
  polder_free(p);
}

TEST(capi, statistics_hold_their_invariant_and_see_a_block) {
  polder_statistics before{};
  before.size = sizeof before;
  ASSERT_EQ(polder_read_statistics(&before), 0);
  EXPECT_EQ(before.size, sizeof before);
  constexpr std::size_t big = 64 << 20;
  void* const p = polder_malloc(big);
  std::memset(p, 1, big);
  polder_statistics after{};
  after.size = sizeof after;
  ASSERT_EQ(polder_read_statistics(&after), 0);
  EXPECT_GE(after.allocated, before.allocated + big);
  EXPECT_LE(after.allocated, after.active);
  EXPECT_LE(after.active, after.resident);
  EXPECT_LE(after.resident, after.mapped);
  EXPECT_LE(after.mapped, after.reserved);
  polder_free(p);
}

TEST(capi, statistics_of_another_version) {
  struct {
    polder_statistics all;
    char later[16];
  } room;
  std::memset(&room, 0x5a, sizeof room);
  room.all.size = sizeof room;  // a caller newer than the library
  EXPECT_EQ(polder_read_statistics(&room.all), 0);
  EXPECT_EQ(room.all.size, sizeof room.all);
  EXPECT_EQ(room.later[0], 0x5a);
  room.all.size = 2 * sizeof(std::size_t);  // an older one
  room.all.active = 12345;
  EXPECT_EQ(polder_read_statistics(&room.all), 0);
  EXPECT_EQ(room.all.active, 12345u);
  room.all.size = 1;
  EXPECT_EQ(polder_read_statistics(&room.all), EINVAL);
  EXPECT_EQ(polder_read_statistics(nullptr), EINVAL);
}

TEST(capi, options_are_text_as_snprintf_would_give_it) {
  const std::size_t length = polder_options(nullptr, 0);
  std::vector<char> text(length + 1, '?');
  EXPECT_EQ(polder_options(text.data(), text.size()), length);
  EXPECT_EQ(std::strlen(text.data()), length);
  EXPECT_NE(std::string(text.data()).find("decay_ms="), std::string::npos);
  char little[5] = "????";
  EXPECT_EQ(polder_options(little, sizeof little), length);
  EXPECT_EQ(std::string(little), std::string(text.data(), 4));
}

TEST(capi, names_itself) {
  EXPECT_STREQ(polder_heap(), "polder");
  EXPECT_STREQ(polder_version(), POLDER_VERSION);
}

TEST(capi, gives_memory_back) {
  std::vector<void*> blocks(2000);
  ASSERT_EQ(polder_malloc_batch(16'000, blocks.size(), blocks.data()), blocks.size());
  for (void* p : blocks) std::memset(p, 1, 16'000);
  polder_free_batch(blocks.data(), blocks.size());
  EXPECT_GT(polder_trim(0), std::size_t{16} << 20);
}

}  // namespace
