#include <polder/mem/budget.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace polder::mem {
namespace {

TEST(budget, counts_without_a_cap) {
  budget b(10);
  EXPECT_EQ(10u, b.used());
  EXPECT_TRUE(b.take(SIZE_MAX / 2));
  EXPECT_EQ(10 + SIZE_MAX / 2, b.used());
  b.give(SIZE_MAX / 2);
  EXPECT_EQ(10u, b.used());
  EXPECT_FALSE(b.is_limited());
  EXPECT_FALSE(b.is_short(SIZE_MAX - 10));
}

TEST(budget, takes_up_to_the_cap_and_nothing_beyond) {
  budget b;
  b.set_limit(100);
  EXPECT_TRUE(b.take(60));
  EXPECT_TRUE(b.refuses(41));
  EXPECT_FALSE(b.take(41));
  EXPECT_FALSE(b.take(SIZE_MAX));
  EXPECT_EQ(60u, b.used());
  EXPECT_FALSE(b.refuses(40));
  EXPECT_TRUE(b.take(40));
  EXPECT_FALSE(b.take(1));
  b.set_limit(50);  // below what is held
  EXPECT_TRUE(b.is_short());
  EXPECT_FALSE(b.take(0));
  b.give(60);
  EXPECT_FALSE(b.is_short());
  EXPECT_TRUE(b.take(10));
  b.set_limit(budget::none);
  EXPECT_TRUE(b.take(1000));
}

TEST(budget, is_short_above_either) {
  budget b;
  b.set_target(100);
  EXPECT_FALSE(b.is_above_target(100));
  EXPECT_TRUE(b.is_above_target(101));
  EXPECT_TRUE(b.is_short(101));
  EXPECT_FALSE(b.refuses(101));
  b.set_target(budget::none);
  b.set_limit(50);
  EXPECT_FALSE(b.is_above_target(51));
  EXPECT_TRUE(b.is_short(51));
}

TEST(budget, is_narrow_under_a_cap_and_from_an_eighth_of_the_target_on) {
  budget b;
  ASSERT_TRUE(b.take(1000));
  EXPECT_FALSE(b.is_narrow());
  b.set_target(8000);
  EXPECT_FALSE(b.is_narrow());
  ASSERT_TRUE(b.take(1));
  EXPECT_TRUE(b.is_narrow());
  b.set_target(budget::none);
  b.set_limit(1'000'000);
  EXPECT_TRUE(b.is_narrow());
}

int crossings;
std::size_t told_of;

TEST(budget, tells_of_each_crossing_upwards_once) {
  crossings = 0;
  budget b;
  b.set_target(100);
  b.on_target([](std::size_t now) { ++crossings, told_of = now; });
  EXPECT_TRUE(b.take(100));
  EXPECT_EQ(0, crossings);
  EXPECT_TRUE(b.take(5));
  EXPECT_EQ(1, crossings);
  EXPECT_EQ(105u, told_of);
  EXPECT_TRUE(b.take(5));
  EXPECT_EQ(1, crossings);
  b.give(10);
  EXPECT_EQ(1, crossings);
  EXPECT_TRUE(b.take(1));
  EXPECT_EQ(2, crossings);
  b.on_target(nullptr);
  b.give(50);
  EXPECT_TRUE(b.take(80));
  EXPECT_EQ(2, crossings);
}

TEST(budget, remembers_the_most_that_was_had) {
  budget b(10);
  EXPECT_EQ(10u, b.peak());
  EXPECT_TRUE(b.take(90));
  b.give(50);
  EXPECT_EQ(100u, b.peak());
  EXPECT_TRUE(b.take(30));
  EXPECT_EQ(100u, b.peak());
  EXPECT_TRUE(b.set_aside(1000));  // and the system refuses
  EXPECT_EQ(100u, b.peak());
  b.give(1000);
  EXPECT_TRUE(b.set_aside(100));
  b.had();
  EXPECT_EQ(180u, b.peak());
  b.give(100);
  b.count(101);
  EXPECT_EQ(181u, b.peak());
  b.set_limit(200);
  EXPECT_FALSE(b.take(20));
  EXPECT_EQ(181u, b.peak());
}

TEST(budget, asks_whoever_watches) {
  budget b;
  EXPECT_FALSE(b.ask(1));
  b.on_limit([](std::size_t wanted) { return wanted == 7; });
  EXPECT_TRUE(b.ask(7));
  EXPECT_FALSE(b.ask(8));
}

TEST(budget, threads_together_stay_below_the_cap_and_reach_it) {
  constexpr std::size_t cap = 1000;
  budget b;
  b.set_limit(cap);
  std::atomic<std::size_t> most{0}, refused{0};
  std::vector<std::thread> crew;
  for (std::size_t n = 0; n != 4; ++n)
    crew.emplace_back([&, n] {
      std::size_t held = 0;
      for (int i = 0; i != 20'000; ++i) {
        const std::size_t piece = 50 + n * 7;
        if (b.take(piece)) held += piece;
        else b.give(held), held = 0, ++refused;
        for (std::size_t now = b.used(), seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
      }
      b.give(held);
    });
  for (auto& t : crew) t.join();
  EXPECT_LE(most.load(), cap);
  EXPECT_GT(most.load(), cap / 2);
  EXPECT_GT(refused.load(), 0u);
  EXPECT_EQ(0u, b.used());
}

TEST(budget, a_mappings_share_follows_its_length) {
  budget b;
  b.set_limit(100);
  ASSERT_TRUE(b.take(40));
  {
    budgeted_length held(b, 40);
    EXPECT_TRUE(held.reach(30));
    EXPECT_EQ(40u, b.used());
    EXPECT_TRUE(held.reach(90));
    EXPECT_FALSE(held.reach(101));
    EXPECT_EQ(90u, b.used());
    held.settle(40);
    EXPECT_EQ(40u, b.used());
    EXPECT_TRUE(held.reach(60));
    held.settle(60);
  }
  EXPECT_EQ(60u, b.used());
  budgeted_length shrinks(b, 60);
  shrinks.settle(5);
  EXPECT_EQ(5u, b.used());
}

TEST(budget, without_a_cap_a_mapping_counts_when_it_is_had) {
  crossings = 0;
  budget b(10);
  b.set_target(100);
  b.on_target([](std::size_t now) { ++crossings, told_of = now; });
  budgeted_length refused(b, 0);
  EXPECT_TRUE(refused.reach(std::size_t{1} << 46));
  EXPECT_EQ(10u, b.used());
  b.had();  // another's
  EXPECT_EQ(10u, b.peak());
  refused.settle(0);
  EXPECT_EQ(10u, b.used());
  EXPECT_EQ(0, crossings);
  budgeted_length had(b, 5);
  EXPECT_TRUE(had.reach(100));
  had.settle(100);
  EXPECT_EQ(105u, b.used());
  EXPECT_EQ(105u, b.peak());
  EXPECT_EQ(1, crossings);
  EXPECT_EQ(105u, told_of);
}

}  // namespace
}  // namespace polder::mem
