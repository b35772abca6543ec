// A request, step by step: whoever reads its source may do what another thread would do then.
#include <gtest/gtest.h>

#include <functional>
#include <polder/smr/era/era_answers.hpp>
#include <polder/smr/era/era_request.hpp>
#include <polder/smr/fences.hpp>
#include <vector>

namespace {

using namespace polder::smr;
using word = era_request::word;

struct member {
  struct {
    era_slot slots[2];
    era_request request;
    era_answers answers;
    era_aid aid;
    template <class F>
    void each(F&& f) const {
      for (const era_slot& s : slots) f(s);
    }
  } seat;
  member* next = nullptr;
};

struct fixture : testing::Test {
  fixture() { asker.next = &helper; }
  const member* first() const { return &asker; }

  struct word_in_memory {
    std::function<word()> read;
  };
  word ask(const word_in_memory& source, era from = no_era, era to = no_era) {
    auto& s = asker.seat;
    return s.request.protect(
        s.slots[0], &source, [](const void* w) { return static_cast<const word_in_memory*>(w)->read(); }, from, to,
        clock, both, [&s](unsigned n) -> const era_request::answer& { return s.answers.at(n); });
  }
  void help() {
    era_answers::cell* const cell = asker.seat.answers.of(&helper);
    asker.seat.request.help(helper.seat.aid, *cell, cell->number.get(), clock, both);
  }
  std::vector<std::pair<era, era>> published() const {
    std::vector<std::pair<era, era>> all;
    each_era_published(*this, [&](era from, era to) { all.emplace_back(from, to); });
    return all;
  }
  using spans = std::vector<std::pair<era, era>>;

  member asker, helper;
  era_clock clock;
  fences both;
};

TEST_F(fixture, is_over_when_the_clock_stands_still) {
  const word_in_memory source{[] { return 7; }};
  EXPECT_EQ(ask(source), 7u);
  EXPECT_FALSE(asker.seat.request.open());
  EXPECT_EQ(published(), (spans{{1, 1}}));
}

TEST_F(fixture, is_answered_though_the_clock_moves_in_every_read) {
  unsigned reads = 0, helps = 0;
  bool helping = false;
  const word_in_memory source{[&]() -> word {
    ++reads;
    if (helping) {
      EXPECT_TRUE(asker.seat.request.open());
      EXPECT_EQ(published(), (spans{{clock.now(), clock.now()}, {3, 5}}));  // what it reads, and where
      return 7 + reads;
    }
    EXPECT_LE(++helps, 2u);
    helping = true;
    help();
    helping = false;
    if (helps == 1) {
      const era then = clock.now();
      EXPECT_FALSE(asker.seat.request.open());
      EXPECT_EQ(published(), (spans{{then, then}}));  // the answer alone; the helper has gone
    }
    clock.tick();
    return 1;
  }};
  EXPECT_EQ(ask(source, 3, 5), 7u + 2);  // the helper's read, not the asker's own
  EXPECT_EQ(reads, 2u);
  EXPECT_EQ(published(), (spans{{1, 1}}));  // the slot has taken over the era of that read

  // The same again: another number, the same cell.
  asker.seat.slots[0].clear();
  clock.tick();
  helps = reads = 0;
  const era then = clock.now();
  EXPECT_EQ(ask(source, 3, 5), 7u + 2);
  EXPECT_EQ(published(), (spans{{then, then}}));
  EXPECT_EQ(asker.seat.answers.of(&helper)->number.get(), 0u);
  EXPECT_EQ(asker.seat.answers.of(&asker)->number.get(), 1u);
}

TEST_F(fixture, that_nobody_made_is_not_answered) {
  help();
  EXPECT_TRUE(published().empty());
}

}  // namespace
