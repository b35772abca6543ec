// The three words, and every arrow of the life of a span.
#include <polder/heap/scalloc/words.hpp>

#include <gtest/gtest.h>

namespace polder::heap::scalloc {
namespace {

using enum span_state;

TEST(scalloc_epoch, every_arrow_and_no_other) {
  constexpr span_state all[] = {expected, span_state::free, hot, floating, reusable};
  constexpr bool drawn[5][5] = {
      {false, false, true, false, false},  // expected
      {false, false, true, false, false},  // free
      {false, false, false, true, false},  // hot
      {false, true, false, false, true},   // floating
      {false, true, true, true, false},    // reusable
  };
  for (unsigned from = 0; from < 5; ++from)
    for (unsigned to = 0; to < 5; ++to) EXPECT_EQ(drawn[from][to], legal(all[from], all[to])) << from << ' ' << to;
}

TEST(scalloc_epoch, counts_every_step) {
  epoch_word e;
  EXPECT_EQ(expected, e.state());
  std::uint64_t steps = 0;
  for (span_state to : {hot, floating, reusable, hot, floating, span_state::free, hot}) {
    const epoch_word before = e;
    e = e.next(to);
    EXPECT_EQ(to, e.state());
    EXPECT_EQ(++steps, e.counter());
    EXPECT_NE(before, e);
  }
  EXPECT_NE(epoch_word(hot, 1), epoch_word(hot, 3)) << "the same state in another life is another word";
}

TEST(scalloc_epoch, the_counter_wraps_within_its_bits) {
  const epoch_word last(floating, (std::uint64_t{1} << 60) - 1);
  EXPECT_EQ(reusable, last.next(reusable).state());
  EXPECT_EQ(0u, last.next(reusable).counter());
}

TEST(scalloc_owner, id_and_lab) {
  int lab = 0;
  const owner_word o(&lab, 0xffff);
  EXPECT_FALSE(o.terminated());
  EXPECT_EQ(&lab, &o.lab<int>());
  EXPECT_EQ(0xffff, o.id());
  EXPECT_NE(o, owner_word(&lab, std::uint16_t(o.id() + 1)));
  EXPECT_EQ(&lab, &owner_word(&lab, std::uint16_t(o.id() + 1)).lab<int>()) << "the id wraps, the LAB stays";
  EXPECT_TRUE(owner_word{}.terminated());
}

TEST(scalloc_list, first_and_count) {
  char blocks[3];
  list_word w;
  EXPECT_TRUE(w.none_listed());
  w = w.pushed(&blocks[0]).pushed(&blocks[1]);
  EXPECT_EQ(&blocks[1], w.first<char>());
  EXPECT_EQ(2u, w.count());
  w = w.popped(&blocks[0]);
  EXPECT_EQ(&blocks[0], w.first<char>());
  EXPECT_EQ(1u, w.count());
  w = w.popped(nullptr);
  EXPECT_EQ(list_word{}, w);
  const list_word fresh(nullptr, 0xffff);
  EXPECT_TRUE(fresh.none_listed());
  EXPECT_EQ(0xffffu, fresh.count());
}

}  // namespace
}  // namespace polder::heap::scalloc
