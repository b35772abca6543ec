#include <polder/heap/supermalloc/block_list.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace polder::heap::supermalloc {
namespace {

constexpr mem::secret key = 0x1234'5678'9abc'def0;

struct blocks : testing::Test {
  mem::block memory[64]{};
  block_list made(unsigned first, unsigned count) {
    block_list l{};
    for (unsigned i = 0; i < count; ++i) l.push(&memory[first + i], key);
    return l;
  }
  static std::vector<mem::block*> emptied(block_list& l) {
    std::vector<mem::block*> all;
    while (!l.empty()) all.push_back(l.pop(key));
    return all;
  }
};

TEST_F(blocks, last_in_first_out_with_keys) {
  block_list l = made(0, 3);
  EXPECT_TRUE(l.whole(key));
  EXPECT_EQ(&memory[0], l.last);
  for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(memory[i].looks_free(key));
  EXPECT_EQ((std::vector{&memory[2], &memory[1], &memory[0]}), emptied(l));
  for (unsigned i = 0; i < 3; ++i) EXPECT_FALSE(memory[i].looks_free(key));
  l.push(&memory[9], key);
  EXPECT_EQ(&memory[9], l.last) << "what was last before it was empty is forgotten";
}

TEST_F(blocks, lists_are_joined_whole) {
  block_list a = made(0, 2), b = made(2, 2), none{};
  a.join(b, key);
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(4u, a.count);
  EXPECT_TRUE(a.whole(key));
  a.join(none, key);
  EXPECT_EQ(4u, a.count);
  none.join(a, key);
  EXPECT_TRUE(a.empty());
  EXPECT_TRUE(none.whole(key));
  EXPECT_EQ((std::vector{&memory[3], &memory[2], &memory[1], &memory[0]}), emptied(none));
}

TEST_F(blocks, a_part_is_split_off) {
  block_list l = made(0, 5);
  block_list front = l.split(2, key);
  EXPECT_TRUE(l.whole(key));
  EXPECT_TRUE(front.whole(key));
  EXPECT_EQ(3u, l.count);
  EXPECT_EQ((std::vector{&memory[4], &memory[3]}), emptied(front));
  EXPECT_EQ((std::vector{&memory[2], &memory[1], &memory[0]}), emptied(l));
}

TEST_F(blocks, a_chain_that_lies_is_not_whole) {
  block_list l = made(0, 3);
  l.count = 2;
  EXPECT_FALSE(l.whole(key));
  l = made(0, 3);
  memory[1].key ^= 1;
  EXPECT_FALSE(l.whole(key));
}

TEST_F(blocks, a_free_block_that_was_written_to_is_told) {
  block_list l = made(0, 4), other = made(8, 2);
  memory[3].link = &memory[20];
  EXPECT_DEATH(l.pop(key), "polder: corrupted free block");
  l = made(0, 4);
  memory[2].key = 5;
  EXPECT_DEATH(static_cast<void>(l.split(3, key)), "polder: corrupted free block");
  l = made(0, 4);
  memory[0].key = 5;
  EXPECT_DEATH(other.join(l, key), "polder: corrupted free block");
}

}  // namespace
}  // namespace polder::heap::supermalloc
