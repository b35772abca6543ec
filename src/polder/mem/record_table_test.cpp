#include <polder/mem/record_table.hpp>

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace polder::mem {
namespace {

struct record {
  std::uint64_t number;
};
using table = record_table<record, 8, 64>;

struct fresh {
  alignas(64) std::byte directory[table::directory_bytes] = {};
  table records{directory};
};

TEST(record_table, numbers_begin_at_one_and_records_are_zero) {
  fresh f;
  EXPECT_EQ(0u, f.records.made());
  EXPECT_EQ(0u, f.records.bytes());
  for (std::uint32_t n = 1; n <= 20; ++n) {
    ASSERT_EQ(n, f.records.add());
    EXPECT_EQ(0u, f.records.at(n).number);
    f.records.at(n).number = n;
  }
  for (std::uint32_t n = 1; n <= 20; ++n) EXPECT_EQ(n, f.records.at(n).number);
  EXPECT_EQ(20u, f.records.made());
  EXPECT_EQ(3 * os::page_size(), f.records.bytes());
}

TEST(record_table, says_when_all_are_in_use) {
  fresh f;
  for (std::uint32_t n = 1; n < 8 * 64; ++n) ASSERT_EQ(n, f.records.add());
  EXPECT_EQ(0u, f.records.add());
  EXPECT_EQ(0u, f.records.add());
  EXPECT_EQ(8u * 64 - 1, f.records.made());
}

TEST(record_table, has_no_more_than_there_is_room_for) {
  alignas(64) std::byte directory[3 * sizeof(void*)] = {};
  table records{directory, 3};
  for (std::uint32_t n = 1; n < 8 * 3; ++n) ASSERT_EQ(n, records.add());
  EXPECT_EQ(0u, records.add());
}

TEST(record_table, no_two_threads_get_the_same_number) {
  fresh f;
  std::vector<std::uint32_t> had[4];
  std::vector<std::thread> threads;
  for (auto& mine : had)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        mine.push_back(f.records.add());
        f.records.at(mine.back()).number += 1;
      }
    });
  for (auto& t : threads) t.join();
  std::set<std::uint32_t> all;
  for (const auto& mine : had) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(400u, all.size());
  for (const std::uint32_t n : all) EXPECT_EQ(1u, f.records.at(n).number);
}

}  // namespace
}  // namespace polder::mem
