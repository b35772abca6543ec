#include <polder/mem/trail.hpp>

#include <gtest/gtest.h>

namespace polder::mem {
namespace {

TEST(trail, goes_back_step_by_step) {
  trail t;
  EXPECT_EQ(0u, t.step_back(1));
  for (const grain g : {10u, 11u, 12u}) t.note(g, 1);
  for (const grain g : {12u, 11u, 10u, 0u}) EXPECT_EQ(g, t.step_back(1));
}

TEST(trail, of_each_length_the_last) {
  trail t;
  t.note(10, 2), t.note(20, 1), t.note(30, 2), t.note(40, 3);
  EXPECT_EQ(0u, t.step_back(4));
  EXPECT_EQ(30u, t.step_back(2));
  EXPECT_EQ(20u, t.step_back(1));
  EXPECT_EQ(10u, t.step_back(2));
  EXPECT_EQ(40u, t.step_back(3));
  for (const unsigned n : {1u, 2u, 3u}) EXPECT_EQ(0u, t.step_back(n));
}

TEST(trail, looks_only_at_the_last_few) {
  trail t;
  t.note(10, 2);
  for (unsigned i = 1; i != trail::looks; ++i) t.note(20 + i, 1);
  EXPECT_EQ(10u, t.step_back(2));
  t.note(10, 2);
  for (unsigned i = 0; i != trail::looks; ++i) t.note(20 + i, 1);
  EXPECT_EQ(0u, t.step_back(2));
}

TEST(trail, forgets_what_is_long_ago) {
  trail t;
  for (unsigned i = 1; i <= 2 * trail::room; ++i) t.note(i, 1);
  for (unsigned i = 0; i != trail::room; ++i) EXPECT_EQ(2 * trail::room - i, t.step_back(1));
  EXPECT_EQ(0u, t.step_back(1));
}

TEST(trail, runs_across_chunks_and_very_far_ones_are_no_steps) {
  trail t;
  t.note(60, 5);
  EXPECT_EQ(0u, t.step_back(5));
  t.note(60, 4);
  t.note(1u << 26, 1);
  EXPECT_EQ(0u, t.step_back(1));
  t.note((1u << 26) - 64, 64);
  EXPECT_EQ((1u << 26) - 64, t.step_back(64));
  EXPECT_EQ(60u, t.step_back(4));
}

}  // namespace
}  // namespace polder::mem
