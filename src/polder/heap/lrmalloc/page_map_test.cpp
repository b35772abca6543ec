// Both page maps: any address may be asked for, and words come and go.
#include <polder/heap/lrmalloc/page_array.hpp>
#include <polder/heap/lrmalloc/page_tree.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <thread>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/memory_used_test.hpp>

namespace polder::heap::lrmalloc {
namespace {

template <class Map>
struct page_map : testing::Test {
  Map map;
  void SetUp() override { ASSERT_TRUE(map.begin()); }
  void TearDown() override { map.end(); }
};
using both = testing::Types<page_array, page_tree>;
TYPED_TEST_SUITE(page_map, both);

descriptor some[3];

TEST(page_word, keeps_descriptor_and_class) {
  EXPECT_FALSE(page_word{});
  for (unsigned c = 1; c <= size_classes::count; ++c) {
    const page_word w(&some[1], c);
    EXPECT_TRUE(w);
    EXPECT_EQ(c, w.cls());
    EXPECT_EQ(&some[1], w.record());
  }
}

TYPED_TEST(page_map, any_address_may_be_asked_for) {
  for (unsigned shift = 0; shift < 64; ++shift)
    for (std::uintptr_t a :
         {std::uintptr_t{1} << shift, (std::uintptr_t{1} << shift) - 1, ~std::uintptr_t{0} << shift})
      EXPECT_FALSE(this->map.find(at_address(a))) << std::hex << a;
  EXPECT_FALSE(this->map.find(this));
}

TYPED_TEST(page_map, words_are_found_by_every_address_of_their_page) {
  std::byte* const superblock = superblock_of(this) + 5 * superblock_size;
  const page_row row = this->map.row(superblock);
  ASSERT_NE(nullptr, row);
  for (unsigned i = 0; i < pages_per_superblock; ++i) row[i].store(page_word(&some[i % 3], i + 1), order::release);
  for (unsigned i = 0; i < pages_per_superblock; ++i)
    for (std::size_t offset : {std::size_t{0}, std::size_t{16}, map_page - 1}) {
      const page_word w = this->map.find(superblock + i * map_page + offset);
      EXPECT_EQ(i + 1, w.cls());
      EXPECT_EQ(&some[i % 3], w.record());
    }
  EXPECT_FALSE(this->map.find(superblock - 1));
  EXPECT_FALSE(this->map.find(superblock + superblock_size));
  EXPECT_EQ(row, this->map.row(superblock)) << "where they are, they stay";
  row[3].store({}, order::release);
  EXPECT_FALSE(this->map.find(superblock + 3 * map_page));
  EXPECT_TRUE(this->map.find(superblock + 4 * map_page));
}

TYPED_TEST(page_map, addresses_far_apart) {
  const std::uintptr_t far[] = {64 * MiB, 47 * GiB, 5 * TiB, 127 * TiB, 200 * TiB, 256 * TiB - superblock_size};
  unsigned c = 0;
  for (std::uintptr_t a : far) {
    const page_row row = this->map.row(at_address(a));
    ASSERT_NE(nullptr, row) << std::hex << a;
    row[0].store(page_word(&some[0], ++c), order::release);
  }
  c = 0;
  for (std::uintptr_t a : far) EXPECT_EQ(++c, this->map.find(at_address(a)).cls());
  EXPECT_FALSE(this->map.find(at_address(100 * TiB)));
  EXPECT_EQ(nullptr, this->map.row(at_address(256 * TiB))) << "beyond the map";
  EXPECT_LE(this->map.mapped_bytes(), this->map.reserved_bytes());
}

TYPED_TEST(page_map, threads_meet_in_new_nodes) {
  constexpr unsigned threads = 4, each = 64;
  std::vector<std::thread> all;
  const auto place = [](unsigned n) { return at_address(3 * TiB + n * 7 * 64 * MiB); };
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (unsigned i = 0; i < each; ++i) {
        const unsigned n = t % 2 == 0 ? i : each - 1 - i;
        const page_row row = this->map.row(place(n));
        if (row) row[t].store(page_word(&some[0], t + 1), order::release);
      }
    });
  for (auto& t : all) t.join();
  for (unsigned n = 0; n < each; ++n)
    for (unsigned t = 0; t < threads; ++t) EXPECT_EQ(t + 1, this->map.find(place(n) + t * map_page).cls());
}

TEST(page_array, is_flat_and_takes_little_memory) {
  page_array map;
  ASSERT_TRUE(map.begin());
  if (!map.is_flat()) GTEST_SKIP() << "the system does not let 512 GiB be reserved";
  EXPECT_EQ(512 * GiB, map.reserved_bytes());
  EXPECT_EQ(0u, map.mapped_bytes());
  ASSERT_NE(nullptr, map.row(superblock_of(&map)));
  EXPECT_EQ(64 * KiB, map.mapped_bytes()) << "the part that describes 32 MiB";
  EXPECT_FALSE(map.find(superblock_of(&map) + GiB));
  ASSERT_NE(nullptr, map.row(superblock_of(&map) - GiB));
  EXPECT_LE(map.mapped_bytes(), 64 * KiB * 34);
  map.end();
}

TEST(page_array, falls_back_to_a_tree_where_address_space_is_limited) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "a sanitizer takes more address space than the limit leaves";
#else
  EXPECT_EQ(os::fine, os::forked([] {
              const std::size_t now = os::bytes_used(os::used::address_space);
              if (now == 0) return 5;
              const rlim_t bytes = now + GiB;
              const rlimit limit{bytes, bytes};
              if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
              page_array map;
              if (!map.begin() || map.is_flat()) return 2;
              const page_row row = map.row(superblock_of(&map));
              if (!row || map.find(&map)) return 3;
              for (unsigned i = 0; i < pages_per_superblock; ++i)
                row[i].store(page_word(&some[0], 9), order::release);
              return map.find(&map).cls() == 9 && !map.find(at_address(TiB)) ? 0 : 4;
            }));
#endif
}

// Where the array may not grow so far, a superblock stands in the tree, also when the window has come to it later.
TEST(page_array, has_a_tree_for_what_lies_too_far_away_for_a_limit_on_data) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "a sanitizer takes more than the limit leaves";
#else
  EXPECT_EQ(os::fine, os::forked([] {
              page_array map;
              rlimit before;
              if (!map.begin() || !map.is_flat() || ::getrlimit(RLIMIT_DATA, &before) != 0) return 1;
              std::byte* const near = superblock_of(&map);
              std::byte* const far = near - TiB;  // 2 GiB of words
              if (map.row(near) == nullptr) return 2;
              rlimit limit = before;
              limit.rlim_cur = os::bytes_used(os::used::data) + 64 * MiB;
              if (::setrlimit(RLIMIT_DATA, &limit) != 0) return 3;
              const page_row row = map.row(far);
              if (row == nullptr) return 4;
              row[0].store(page_word(&some[1], 7), order::relaxed);
              if (map.find(far).cls() != 7 || map.row(far) != row) return 5;
              if (::setrlimit(RLIMIT_DATA, &before) != 0 || map.row(far - superblock_size) == nullptr) return 6;
              if (map.mapped_bytes() < 2 * GiB || map.mapped_bytes() > map.reserved_bytes()) return 7;
              return map.find(far).cls() == 7 && map.row(far) == row && !map.find(far + superblock_size) ? 0 : 8;
            }));
#endif
}

// What mlockall would fill, and a core dump hold.
TEST(page_array, only_its_window_can_be_touched) {
  page_array map;
  ASSERT_TRUE(map.begin());
  if (!map.is_flat()) GTEST_SKIP() << "the system does not let 512 GiB be reserved";
  const page_row row = map.row(superblock_of(&map));
  ASSERT_NE(nullptr, row);
  const std::uintptr_t array = address(row) - (address(superblock_of(&map)) >> page_shift) * sizeof(page_word);
  std::size_t writable = 0;
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  ASSERT_NE(nullptr, maps);
  char line[512];
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long from, to;
    char access[8];
    if (std::sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && from >= array && to <= array + 512 * GiB &&
        access[0] != '-')
      writable += to - from;
  }
  std::fclose(maps);
  EXPECT_EQ(map.mapped_bytes(), writable);
  map.end();
}

}  // namespace
}  // namespace polder::heap::lrmalloc
