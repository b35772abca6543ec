// elimination: each arrow of its drawing, and pairs that wait for each other as long as it takes.
#include <polder/ds/parts/elimination.hpp>

#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace polder::ds {
namespace {

struct node {
  alignas(8) long n = 0;
};

constexpr auto at_once = [] { return false; };
constexpr auto for_ever = [] {
  sched_yield();
  return true;
};

TEST(elimination, who_meets_nobody_leaves_with_what_it_came) {
  elimination<node> e(1);
  node n;
  for (unsigned i = 0; i != 3; ++i) {
    EXPECT_FALSE(e.give(0, &n, at_once));
    EXPECT_EQ(e.take(0, at_once), nullptr);
  }
}

// The waiter's patience is the other side's turn: so each arrow is made in this order, whatever the scheduler does.
TEST(elimination, what_is_offered_is_taken_once) {
  elimination<node> e(1);
  node n, other;
  node* taken = nullptr;
  EXPECT_TRUE(e.give(0, &n, [&] {
    EXPECT_FALSE(e.give(0, &other, at_once));  // there is an offer
    taken = e.take(0, at_once);
    EXPECT_EQ(e.take(0, at_once), nullptr);  // it is taken and not yet cleared
    EXPECT_FALSE(e.give(0, &other, at_once));
    return true;
  }));
  EXPECT_EQ(taken, &n);
  EXPECT_EQ(e.take(0, at_once), nullptr);
}

TEST(elimination, what_is_wanted_is_given_once) {
  elimination<node> e(1);
  node n, other;
  EXPECT_EQ(e.take(0,
                   [&] {
                     EXPECT_EQ(e.take(0, at_once), nullptr);  // another one wants
                     EXPECT_TRUE(e.give(0, &n, at_once));
                     EXPECT_FALSE(e.give(0, &other, at_once));
                     EXPECT_EQ(e.take(0, at_once), nullptr);
                     return true;
                   }),
            &n);
  EXPECT_FALSE(e.give(0, &n, at_once));
}

TEST(elimination, who_comes_at_the_last_moment_is_met) {
  elimination<node> e(1);
  node n;
  EXPECT_TRUE(e.give(0, &n, [&] { return e.take(0, at_once) == nullptr; }));
  EXPECT_EQ(e.take(0, [&] { return !e.give(0, &n, at_once); }), &n);
}

// The defect of a published one: elements twice, because a slot was read after its next use.
TEST(elimination, slots_that_are_used_again_and_again_hand_over_each_once) {
  constexpr long each = 60, pairs = 2;
  elimination<node> e(1);
  std::vector<node> nodes(std::size_t(each * pairs));
  std::vector<std::vector<long>> got(pairs);
  std::vector<std::thread> threads;
  for (long p = 0; p != pairs; ++p) {
    threads.emplace_back([&, p] {
      for (long i = 0; i != each; ++i) {
        node& n = nodes[std::size_t(p * each + i)];
        n.n = p * each + i;
        while (!e.give(0, &n, for_ever)) sched_yield();
      }
    });
    threads.emplace_back([&, p] {
      while (long(got[std::size_t(p)].size()) != each) {
        if (node* const n = e.take(0, for_ever)) got[std::size_t(p)].push_back(n->n);
        else sched_yield();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  std::vector<long> all;
  for (const auto& g : got) all.insert(all.end(), g.begin(), g.end());
  std::sort(all.begin(), all.end());
  for (long i = 0; i != each * pairs; ++i) ASSERT_EQ(all[std::size_t(i)], i);
}

}  // namespace
}  // namespace polder::ds
