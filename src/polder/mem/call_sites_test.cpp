#include <polder/mem/call_sites.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <polder/base/align.hpp>

namespace polder::mem {
namespace {

using table = call_sites<64, 4>;

std::vector<void*> stack(std::initializer_list<std::uintptr_t> frames) {
  std::vector<void*> s;
  for (std::uintptr_t f : frames) s.push_back(at_address(f));
  return s;
}
std::uint32_t find(table& t, const std::vector<void*>& s) { return t.find(s.data(), unsigned(s.size())); }
std::vector<void*> frames_of(const table& t, std::uint32_t n) {
  std::vector<void*> s;
  t.for_each_frame(n, [&](void* f) { s.push_back(f); });
  return s;
}

TEST(call_sites, the_same_stack_is_the_same_site) {
  const auto t = std::make_unique<table>();
  const auto one = stack({1, 2, 3}), other = stack({1, 2, 4}), shorter = stack({1, 2});
  const std::uint32_t n = find(*t, one);
  EXPECT_NE(0u, n);
  EXPECT_EQ(n, find(*t, one));
  EXPECT_NE(n, find(*t, other));
  EXPECT_NE(n, find(*t, shorter));
  EXPECT_EQ(one, frames_of(*t, n));
  EXPECT_EQ(shorter, frames_of(*t, find(*t, shorter)));
  EXPECT_NE(0u, find(*t, {}));
  EXPECT_TRUE(frames_of(*t, find(*t, {})).empty());
}

TEST(call_sites, a_stack_too_deep_is_known_by_its_inner_end) {
  const auto t = std::make_unique<table>();
  const std::uint32_t n = find(*t, stack({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(stack({1, 2, 3, 4}), frames_of(*t, n));
  EXPECT_EQ(n, find(*t, stack({1, 2, 3, 4, 7})));
}

TEST(call_sites, counts_what_lives_and_what_was_drawn) {
  const auto t = std::make_unique<table>();
  const std::uint32_t n = find(*t, stack({1}));
  t->drawn(n, 100);
  t->drawn(n, 20);
  t->freed(n, 100);
  const auto c = t->of(n);
  EXPECT_EQ(1u, c.live_blocks);
  EXPECT_EQ(20u, c.live_bytes);
  EXPECT_EQ(2u, c.drawn_blocks);
  EXPECT_EQ(120u, c.drawn_bytes);
}

TEST(call_sites, those_without_room_are_counted_together) {
  const auto t = std::make_unique<table>();
  std::set<std::uint32_t> had;
  for (std::uintptr_t f = 1; f != 1000; ++f) had.insert(find(*t, stack({f})));
  EXPECT_TRUE(had.contains(0));
  EXPECT_GT(had.size(), 64u * 9 / 10);
  EXPECT_TRUE(frames_of(*t, 0).empty());
}

TEST(call_sites, threads_with_the_same_stacks_lose_no_count) {
  const auto t = std::make_unique<table>();
  std::vector<std::thread> crew;
  for (int self = 0; self != 3; ++self)
    crew.emplace_back([&] {
      for (std::uintptr_t round = 0; round != 3000; ++round) t->drawn(find(*t, stack({round % 20 + 1})), 1);
    });
  for (std::thread& c : crew) c.join();
  std::uint64_t all = 0;
  t->for_each([&](std::uint32_t n) { all += t->of(n).drawn_blocks; });
  EXPECT_EQ(9000u, all);
}

}  // namespace
}  // namespace polder::mem
