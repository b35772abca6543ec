#include <polder/mem/signposts.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace polder::mem {
namespace {

constexpr secret s = 5;
constexpr unsigned most = 64;
constexpr auto all_have_room = [](const block*) { return true; };

TEST(signposts, lead_to_each_block_of_a_list_and_no_further) {
  for (unsigned n = 1; n != most + 1; ++n) {
    const std::unique_ptr<posted_block[]> blocks(new posted_block[n]);
    for (unsigned i = n; i-- > 0;) blocks[i].set_link(i + 1 == n ? nullptr : &blocks[i + 1], s);
    put_up_signposts<most>(&blocks[0], all_have_room);
    for (unsigned i = 0; i != n; ++i) {
      ASSERT_TRUE(blocks[i].looks_free(s));
      for (unsigned k = 0; k != 2; ++k) {
        const unsigned there = 2 * i + 1 + k;
        ASSERT_EQ(blocks[i].further[k], there < n ? &blocks[there] : nullptr) << n << " blocks, of " << i;
      }
    }
  }
}

TEST(signposts, of_more_blocks_than_the_most_none_are_put_up_beyond) {
  posted_block blocks[5] = {};
  for (unsigned i = 5; i-- > 0;) blocks[i].set_link(i == 4 ? nullptr : &blocks[i + 1], s);
  blocks[4].further[0] = &blocks[0];
  put_up_signposts<4>(&blocks[0], all_have_room);
  EXPECT_EQ(blocks[1].further[0], &blocks[3]);
  EXPECT_EQ(blocks[1].further[1], nullptr);
  EXPECT_EQ(blocks[4].further[0], &blocks[0]);
}

// They lead onwards alone, and each block that comes after the first with room is told of once if every second has it.
TEST(signposts, stand_where_there_is_room) {
  for (unsigned n = 3; n != most + 1; ++n)
    for (unsigned without = 2; without != 8; ++without) {  // each so many-th has none
      const std::unique_ptr<posted_block[]> blocks(new posted_block[n]);
      for (unsigned i = n; i-- > 0;) {
        blocks[i].set_link(i + 1 == n ? nullptr : &blocks[i + 1], s);
        blocks[i].further[0] = blocks[i].further[1] = &blocks[i];
      }
      const auto place = [&](const block* b) { return unsigned(static_cast<const posted_block*>(b) - &blocks[0]); };
      put_up_signposts<most>(&blocks[0], [&](const block* b) { return place(b) % without != 0; });
      unsigned next = 2;
      for (unsigned i = 0; i != n; ++i) {
        ASSERT_TRUE(blocks[i].looks_free(s));
        for (const block* b : blocks[i].further) {
          if (i % without == 0) {
            ASSERT_EQ(b, &blocks[i]);  // nothing was written there
          } else if (b != nullptr) {
            ASSERT_GT(place(b), i);
            ASSERT_EQ(place(b), next++);
          }
        }
      }
      ASSERT_EQ(next, n) << without;
    }
}

TEST(signposts, may_say_anything) {
  alignas(64) static posted_block b{};
  const auto* const base = reinterpret_cast<const std::byte*>(&b);
  for (const std::uintptr_t wrong : {std::uintptr_t{0}, std::uintptr_t{1}, ~std::uintptr_t{0}, address(&b) + 1}) {
    b.further[0] = b.further[1] = reinterpret_cast<block*>(wrong);
    follow_signposts(&b, base, sizeof b);
    follow_signposts(&b, nullptr, ~std::size_t{0});
  }
}

}  // namespace
}  // namespace polder::mem
