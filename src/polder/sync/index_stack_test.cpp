#include <polder/sync/index_stack.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace polder {
namespace {

constexpr std::uint32_t indices = 64;

struct stack_of_indices : testing::Test {
  index_stack stack;
  std::array<atomic<std::uint32_t>, indices + 1> links;

  auto link() {
    return [this](std::uint32_t i) -> atomic<std::uint32_t>& { return links[i]; };
  }
  void chain(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i != last; ++i) links[i].store(i + 1, order::relaxed);
  }
};

TEST(index_stack_memory, all_zero_is_empty) {
  alignas(index_stack) unsigned char zeros[sizeof(index_stack)] = {};
  constinit static index_stack fresh;
  EXPECT_EQ(0, std::memcmp(zeros, &fresh, sizeof fresh));
  EXPECT_EQ(8u, sizeof(index_stack));
}

TEST_F(stack_of_indices, empty_gives_none) {
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(index_stack::none, stack.pop(link()));
  EXPECT_EQ(index_stack::none, stack.take_all(link()));
}

TEST_F(stack_of_indices, last_in_first_out) {
  for (std::uint32_t i = 1; i <= 3; ++i) stack.push(i, link());
  EXPECT_FALSE(stack.empty());
  EXPECT_EQ(3u, stack.pop(link()));
  stack.push(7, link());
  EXPECT_EQ(7u, stack.pop(link()));
  EXPECT_EQ(2u, stack.pop(link()));
  EXPECT_EQ(1u, stack.pop(link()));
  EXPECT_EQ(index_stack::none, stack.pop(link()));
}

TEST_F(stack_of_indices, a_list_goes_on_top_in_its_order) {
  stack.push(9, link());
  chain(1, 4);
  stack.push_list(1, 4, link());
  for (std::uint32_t i : {1u, 2u, 3u, 4u, 9u}) EXPECT_EQ(i, stack.pop(link()));
  EXPECT_TRUE(stack.empty());
}

TEST_F(stack_of_indices, take_all_leaves_a_chain_that_ends_in_none) {
  for (std::uint32_t i = 1; i <= 5; ++i) stack.push(i, link());
  std::uint32_t expected = 5;
  for (std::uint32_t i = stack.take_all(link()); i != index_stack::none; i = links[i].load(order::relaxed)) {
    EXPECT_EQ(expected--, i);
  }
  EXPECT_EQ(0u, expected);
  EXPECT_TRUE(stack.empty());
}

TEST_F(stack_of_indices, threads_lose_and_double_nothing) {
  for (std::uint32_t i = 1; i <= indices; ++i) stack.push(i, link());
  std::array<atomic<std::uint32_t>, indices + 1> holders;
  std::vector<std::thread> threads;
  atomic<std::uint32_t> collisions;
  for (unsigned t = 0; t != 4; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned round = 0; round != 20'000; ++round) {
        if (t == 0 && round % 64 == 0) {
          std::uint32_t first = stack.take_all(link());
          if (first == index_stack::none) continue;
          std::uint32_t last = first;
          while (const std::uint32_t next = links[last].load(order::relaxed)) last = next;
          stack.push_list(first, last, link());
          continue;
        }
        const std::uint32_t i = stack.pop(link());
        if (i == index_stack::none) continue;
        if (holders[i].fetch_add(1, order::relaxed) != 0) collisions.fetch_add(1, order::relaxed);
        holders[i].fetch_sub(1, order::relaxed);
        stack.push(i, link());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(0u, collisions.load(order::relaxed));
  std::set<std::uint32_t> left;
  while (const std::uint32_t i = stack.pop(link())) EXPECT_TRUE(left.insert(i).second);
  EXPECT_EQ(indices, left.size());
}

}  // namespace
}  // namespace polder
