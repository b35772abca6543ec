#include <polder/heap/polder/outbox.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

namespace polder::heap {
namespace {

using tally = outbox::tally;
constexpr mem::secret s = 77;

struct sent {
  std::multiset<std::pair<mem::lab_number, const mem::block*>> blocks;
  unsigned lists = 0;

  void operator()(const outbox::list& l) {
    ++lists;
    std::uint32_t n = 0;
    const mem::block* last = nullptr;
    for (const mem::block* b = l.first; b != nullptr; b = b->link, ++n) {
      EXPECT_TRUE(b->looks_free(s));
      blocks.insert({l.owner, b});
      last = b;
    }
    EXPECT_EQ(l.sum.count(), n);
    EXPECT_EQ(l.last, last);
  }
};

TEST(outbox, waits_until_a_slot_is_full_by_number) {
  outbox o{};
  sent out;
  alignas(16) static mem::posted_block blocks[outbox::max_blocks] = {};
  for (unsigned i = 0; i != outbox::max_blocks; ++i) {
    EXPECT_EQ(0u, out.lists);
    o.add(3, &blocks[i], tally(16), s, out);
  }
  EXPECT_EQ(1u, out.lists);
  EXPECT_EQ(std::size_t{outbox::max_blocks}, out.blocks.size());
  EXPECT_TRUE(o.empty());
}

TEST(outbox, waits_until_a_slot_is_full_by_bytes) {
  outbox o{};
  sent out;
  constexpr std::uint32_t third = outbox::max_bytes / 3 + 1;
  alignas(16) static mem::posted_block blocks[9] = {};
  for (unsigned i = 0; i != 8; ++i) o.add(3, &blocks[i], tally(third), s, out);
  EXPECT_EQ(2u, out.lists);
  EXPECT_EQ(6u, out.blocks.size());
  EXPECT_FALSE(o.empty());
  o.add(3, &blocks[8], tally(2 * outbox::max_bytes), s, out);  // one block may be more than that
  EXPECT_EQ(3u, out.lists);
  EXPECT_TRUE(o.empty());
}

TEST(outbox, all_leave_when_together_they_are_too_much) {
  outbox o{};
  sent out;
  constexpr std::uint32_t each = outbox::max_bytes - 16;
  constexpr unsigned most = outbox::max_held / each;
  alignas(16) static mem::posted_block blocks[most + 2] = {};
  for (unsigned i = 0; i != most; ++i) o.add(1 + i, &blocks[i], tally(each), s, out);
  EXPECT_EQ(0u, out.lists);
  o.add(1 + most, &blocks[most], tally(each), s, out);
  EXPECT_EQ(std::size_t{most} + 1, out.blocks.size());
  EXPECT_TRUE(o.empty());
  o.add(1, &blocks[most + 1], tally(each), s, out);  // it counts from nothing again
  EXPECT_FALSE(o.empty());
}

TEST(outbox, knows_whether_most_of_a_list_have_room_for_signposts) {
  static mem::posted_block blocks[5] = {};
  for (unsigned small = 0; small != 6; ++small) {
    outbox o{};
    for (unsigned i = 0; i != 5; ++i)
      o.add(3, &blocks[i], tally(i < small ? 16 : 32), s, [](const outbox::list&) {});
    o.flush_all([&](const outbox::list& l) {
      EXPECT_EQ(small == 0, l.sum.all_have_room());
      EXPECT_EQ(small < 3, l.sum.most_have_room());
    });
  }
}

TEST(outbox, what_is_taken_back_is_not_sent) {
  outbox o{};
  sent out;
  constexpr unsigned n = 3;
  alignas(16) static mem::posted_block blocks[2 * n] = {};
  for (unsigned i = 0; i != 2 * n; ++i) o.add(3 + i % 2, &blocks[i], tally(240), s, out);
  for (unsigned i = 0; i != n + 1; ++i) {
    const mem::block* const nearest = o.nearest();
    EXPECT_EQ(nearest, o.take_back(tally(240), s));
    EXPECT_EQ((2 * n - 1 - i) * 240, o.bytes());
#if POLDER_CHECK_LEVEL >= 2
    EXPECT_EQ(2 * n - 1 - i, o.validate(s, [](const mem::block*) { return 240u; }));
#endif
  }
  o.flush_all(out);
  EXPECT_EQ(std::size_t{n - 1}, out.blocks.size());
  EXPECT_TRUE(o.empty());
  EXPECT_EQ(0u, o.bytes());
}

TEST(outbox, is_mixed_when_it_holds_more_than_a_few_blocks_of_several_owners) {
  alignas(16) static mem::posted_block blocks[4] = {};
  for (const bool several : {false, true}) {
    outbox o{};
    sent out;
    o.add(1, &blocks[0], tally(outbox::mixed_from / 2), s, out);
    o.add(several ? 2 : 1, &blocks[1], tally(outbox::mixed_from / 2), s, out);
    EXPECT_FALSE(o.is_mixed());
    o.add(1, &blocks[2], tally(16), s, out);
    EXPECT_EQ(several, o.is_mixed());
    o.add(3, &blocks[3], tally(16), s, out);
    EXPECT_TRUE(o.is_mixed());
    o.flush_all(out);
    EXPECT_FALSE(o.is_mixed());
  }
}

TEST(outbox, owners_that_share_a_slot_are_not_mixed) {
  outbox o{};
  sent out;
  alignas(16) static mem::posted_block blocks[3] = {};
  o.add(1, &blocks[0], tally(16), s, out);
  o.add(1 + outbox::slots, &blocks[1], tally(16), s, out);
  EXPECT_EQ(1u, out.lists);
  EXPECT_EQ(1u, out.blocks.count({1, &blocks[0]}));
  o.add(2, &blocks[2], tally(16), s, out);  // a slot of its own
  EXPECT_EQ(1u, out.lists);
  o.flush_all(out);
  EXPECT_EQ(3u, out.lists);
  EXPECT_EQ(1u, out.blocks.count({1 + outbox::slots, &blocks[1]}));
  EXPECT_EQ(1u, out.blocks.count({2, &blocks[2]}));
  EXPECT_TRUE(o.empty());
  o.flush_all(out);
  EXPECT_EQ(3u, out.lists);
}

TEST(outbox, every_block_is_sent_once_to_its_owner) {
  std::minstd_rand random(1);
  constexpr unsigned n = 5'000;
  const std::unique_ptr<mem::posted_block[]> blocks(new mem::posted_block[n]);
  outbox o{};
  sent out;
  std::multiset<std::pair<mem::lab_number, const mem::block*>> expected;
  for (unsigned i = 0; i != n; ++i) {
    const auto owner = mem::lab_number(1 + random() % 100);
    o.add(owner, &blocks[i], tally(16 + random() % 2000), s, out);
    expected.insert({owner, &blocks[i]});
  }
  o.flush_all(out);
  EXPECT_EQ(expected, out.blocks);
}

}  // namespace
}  // namespace polder::heap
