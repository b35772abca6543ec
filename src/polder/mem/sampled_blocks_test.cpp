#include <polder/mem/sampled_blocks.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace polder::mem {
namespace {

using table = sampled_blocks<64, 8>;

const void* block(std::uintptr_t n) { return at_address(n * 16); }

std::map<const void*, sampled_block> all_of(const table& t) {
  std::map<const void*, sampled_block> all;
  t.for_each([&](const sampled_block& b) { all[b.block] = b; });
  return all;
}

TEST(sampled_blocks, has_what_was_added_until_it_is_removed) {
  const auto t = std::make_unique<table>();
  ASSERT_TRUE(t->add({block(1), 100, 7}));
  ASSERT_TRUE(t->add({block(2), 200, 8}));
  const auto both = all_of(*t);
  ASSERT_EQ(2u, both.size());
  EXPECT_EQ(100u, both.at(block(1)).bytes);
  EXPECT_EQ(8u, both.at(block(2)).site);
  sampled_block was;
  EXPECT_FALSE(t->remove(block(3), was));
  ASSERT_TRUE(t->remove(block(2), was));
  EXPECT_EQ(block(2), was.block);
  EXPECT_EQ(200u, was.bytes);
  EXPECT_EQ(8u, was.site);
  EXPECT_FALSE(t->remove(block(2), was));
  EXPECT_EQ(1u, all_of(*t).size());
}

TEST(sampled_blocks, fills_nearly_up_before_it_refuses_and_has_room_again) {
  const auto t = std::make_unique<table>();
  std::vector<const void*> in;
  for (std::uintptr_t n = 1; n != 2000; ++n)
    if (t->add({block(n), n, 0})) in.push_back(block(n));
  EXPECT_LE(in.size(), 64u * 8);
  EXPECT_GT(in.size(), 64u * 8 * 9 / 10);
  EXPECT_EQ(in.size(), all_of(*t).size());
  sampled_block was;
  for (const void* p : in) ASSERT_TRUE(t->remove(p, was));
  EXPECT_TRUE(all_of(*t).empty());
  for (const void* p : in) ASSERT_TRUE(t->add({p, 1, 1}));
}

TEST(sampled_blocks, threads_do_not_take_each_others_slots) {
  const auto t = std::make_unique<table>();
  std::vector<std::thread> crew;
  for (std::uintptr_t self = 1; self != 4; ++self)
    crew.emplace_back([&t, self] {
      for (int round = 0; round != 2000; ++round) {
        const void* const p = block(self << 20 | unsigned(round));
        ASSERT_TRUE(t->add({p, self, std::uint32_t(round)}));
        t->for_each([](const sampled_block& b) { ASSERT_NE(nullptr, b.block); });
        sampled_block was;
        ASSERT_TRUE(t->remove(p, was));
        ASSERT_EQ(self, was.bytes);
        ASSERT_EQ(std::uint32_t(round), was.site);
      }
    });
  for (std::thread& c : crew) c.join();
  EXPECT_TRUE(all_of(*t).empty());
}

}  // namespace
}  // namespace polder::mem
