#include <polder/heap/supermalloc/fullest_first.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace polder::heap::supermalloc {
namespace {

TEST(folio_state, every_arrow) {
  using s = folio_state;
  const s all[] = {s::clean, s::partial, s::full, s::empty};
  const std::map<s, std::vector<s>> arrows = {{s::clean, {s::partial, s::full}},
                                              {s::partial, {s::full, s::empty}},
                                              {s::full, {s::partial, s::empty}},
                                              {s::empty, {s::clean, s::partial, s::full}}};
  for (s from : all)
    for (s to : all) {
      const auto& next = arrows.at(from);
      EXPECT_EQ(std::find(next.begin(), next.end(), to) != next.end(), legal(from, to));
    }
}

struct listed : testing::Test {
  fullest_first by{};
  folio records[200]{};
  folio& operator()(folio_number n) { return records[n]; }
};

TEST_F(listed, the_one_with_fewest_free_blocks_comes_first) {
  EXPECT_EQ(0u, by.fullest());
  by.add(1, 256, *this);
  EXPECT_EQ(1u, by.fullest());
  by.add(2, 70, *this);
  by.add(3, 64, *this);
  EXPECT_EQ(3u, by.fullest());
  by.add(4, 1, *this);
  EXPECT_EQ(4u, by.fullest());
  by.remove(4, 1, *this);
  by.remove(3, 64, *this);
  EXPECT_EQ(2u, by.fullest());
  by.remove(2, 70, *this);
  by.remove(1, 256, *this);
  EXPECT_EQ(0u, by.fullest());
}

TEST_F(listed, as_a_map_says) {
  std::map<folio_number, unsigned> expected;
  std::mt19937 random(4);
  for (int step = 0; step < 20'000; ++step) {
    const auto n = folio_number(random() % 199 + 1);
    if (const auto found = expected.find(n); found != expected.end()) {
      by.remove(n, found->second, *this);
      expected.erase(found);
    } else {
      const auto free = unsigned(random() % 256 + 1);
      by.add(n, free, *this);
      expected[n] = free;
    }
    unsigned fewest = 0;
    for (auto& [_, free] : expected) fewest = fewest == 0 ? free : std::min(fewest, free);
    const folio_number got = by.fullest();
    ASSERT_EQ(fewest, got == 0 ? 0 : expected.at(got));
  }
  std::size_t seen = 0;
  by.for_each(*this, [&](folio_number n, unsigned free) {
    EXPECT_EQ(expected.at(n), free);
    ++seen;
  });
  EXPECT_EQ(expected.size(), seen);
}

}  // namespace
}  // namespace polder::heap::supermalloc
