#include <polder/mem/anchor.hpp>

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace polder::mem {
namespace {

constexpr fill all[] = {fill::empty, fill::partial, fill::full};

TEST(anchor, has_exactly_the_arrows_of_its_drawing) {
  const std::set<std::pair<fill, fill>> drawn = {
      {fill::empty, fill::full},      {fill::full, fill::partial},  {fill::full, fill::empty},
      {fill::partial, fill::partial}, {fill::partial, fill::empty}, {fill::partial, fill::full},
  };
  for (fill from : all)
    for (fill to : all) EXPECT_EQ(drawn.contains({from, to}), legal(from, to)) << int(from) << " -> " << int(to);
}

TEST(anchor, word_keeps_its_parts) {
  constexpr std::uint32_t numbers[] = {0, 1, 4095, 4096, anchor_word::most};
  for (fill s : all)
    for (std::uint32_t count : numbers)
      for (std::uint32_t avail : numbers) {
        const anchor_word w(s, count, avail);
        EXPECT_EQ(s, w.state());
        EXPECT_EQ(count, w.count());
        EXPECT_EQ(avail, w.avail());
      }
  EXPECT_EQ(fill::empty, anchor_word{}.state()) << "what zeroed memory is";
}

// Walks every arrow, with a superblock of four blocks whose links lie beside.
struct superblock {
  static constexpr std::uint32_t capacity = 4;
  anchor word;
  std::uint32_t link[capacity] = {};

  anchor::step give(std::uint32_t first, std::uint32_t last, std::uint32_t n) {
    return word.give(first, n, capacity, [&](std::uint32_t next) { link[last] = next; });
  }
};

void expect_step(fill from, fill to, anchor::step s) {
  EXPECT_EQ(from, s.from);
  EXPECT_EQ(to, s.to);
}

TEST(anchor, full_partial_empty_and_back) {
  superblock s;
  s.word.open(superblock::capacity);
  EXPECT_EQ(anchor_word::full(4), s.word.seen());
  expect_step(fill::full, fill::partial, s.give(2, 2, 1));
  EXPECT_EQ(superblock::capacity, s.link[2]) << "nothing was free before";
  s.link[0] = 1;
  expect_step(fill::partial, fill::partial, s.give(0, 1, 2));
  EXPECT_EQ(2u, s.link[1]);

  const anchor_word had = s.word.take_all(superblock::capacity);
  EXPECT_EQ(anchor_word(fill::partial, 3, 0), had);
  EXPECT_EQ(anchor_word::full(4), s.word.seen());

  expect_step(fill::full, fill::partial, s.give(3, 3, 1));
  s.link[0] = 1, s.link[1] = 2;
  expect_step(fill::partial, fill::empty, s.give(0, 2, 3));
  EXPECT_EQ(3u, s.link[2]);
  EXPECT_EQ(fill::empty, s.word.take_all(superblock::capacity).state());
  EXPECT_EQ(4u, s.word.seen().count()) << "nothing is taken from an empty one";

  s.word.open(superblock::capacity);
  s.link[0] = 1, s.link[1] = 2, s.link[2] = 3;
  expect_step(fill::full, fill::empty, s.give(0, 3, 4));
}

}  // namespace
}  // namespace polder::mem
