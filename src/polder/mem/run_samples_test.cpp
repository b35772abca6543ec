#include <polder/mem/run_samples.hpp>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

#include <polder/mem/fresh_arena_test.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::mem {
namespace {

struct sampled : fresh_arena {
  run_samples samples;

  sampled() : fresh_arena(16 * chunk_size) {
    os::advise_huge_pages(it.base(), it.bytes(), false);
    open();
  }
  void open() { EXPECT_TRUE(it.open_more(grains_per_chunk)); }
  // n grains from `first` on, of whose bytes so many are touched.
  void run(grain first, unsigned n, std::size_t touched, std::uint32_t word = word::large) {
    ASSERT_TRUE(it.chunk(chunk_of(first)).taken.try_take_at(position_in_chunk(first), n));
    it.words()[first].store(word, order::relaxed);
    for (std::size_t at = 0; at < touched; at += os::page_size()) it.address_of(first)[at] = std::byte{1};
  }
  // Chunk c full of runs of n grains.
  void fill(chunk_number c, unsigned n, std::size_t touched) {
    for (grain g = c * grains_per_chunk + (c == 0 ? n : 0); chunk_of(g) == c; g += n) run(g, n, touched);
  }
  // A page of each run of n grains in the first chunk.
  void touch_each(unsigned n) {
    for (grain g = n; g != grains_per_chunk; g += n) *it.address_of(g) = std::byte{1};
  }
  bool say_huge_next() { return samples.say_huge_next(it); }
};

struct samples_of_runs : testing::Test {
  void SetUp() override {
    if (const char* why = os::lacks_page_map()) GTEST_SKIP() << why;
  }
};

TEST_F(samples_of_runs,
       where_the_first_chunk_has_none_one_is_tried_and_if_it_tells_nothing_they_are_taken_for_dense) {
  sampled s;
  EXPECT_FALSE(s.say_huge_next());
  EXPECT_TRUE(s.samples.say_sparse());  // they may lie in it
  EXPECT_FALSE(s.say_huge_next());      // it is not there yet
  s.open();
  EXPECT_TRUE(s.say_huge_next());
  EXPECT_FALSE(s.samples.say_sparse());
  s.open();
  EXPECT_TRUE(s.say_huge_next());
}

TEST_F(samples_of_runs, what_is_seen_in_a_chunk_that_was_tried_decides) {
  for (const bool sparse : {true, false}) {
    sampled s;
    ASSERT_FALSE(s.say_huge_next());
    s.open();
    s.fill(1, 4, sparse ? 1 : 4 * grain_size);
    EXPECT_EQ(!sparse, s.say_huge_next());
    EXPECT_EQ(sparse, s.samples.say_sparse());
  }
}

TEST_F(samples_of_runs, one_that_another_thread_opened_with_huge_pages_instead_is_no_trial) {
  sampled s;
  ASSERT_FALSE(s.say_huge_next());
  s.open();
  s.it.chunk(1).kind.store(page_kind::huge, order::relaxed);
  EXPECT_TRUE(s.say_huge_next());
}

TEST_F(samples_of_runs, what_less_than_half_is_touched_of_is_sparse_whatever_its_length) {
  for (const unsigned n : {1u, 2u, 16u, 32u})
    for (const bool sparse : {true, false}) {
      sampled s;
      s.fill(0, n, n * grain_size / 2 - (sparse ? os::page_size() : 0));
      EXPECT_EQ(!sparse, s.say_huge_next()) << n;
      EXPECT_EQ(sparse, s.samples.say_sparse()) << n;
    }
}

TEST_F(samples_of_runs, runs_that_nobody_has_touched_yet_say_nothing_and_are_looked_at_again) {
  sampled s;
  s.fill(0, 4, 0);
  EXPECT_FALSE(s.say_huge_next());  // tried
  s.open();
  s.fill(1, 4, 0);
  EXPECT_TRUE(s.say_huge_next());
  *s.it.address_of(grains_per_chunk) = std::byte{1};
  EXPECT_TRUE(s.say_huge_next());  // a single one
  for (grain g = 4; g != grains_per_chunk; g += 4) *s.it.address_of(grains_per_chunk + g) = std::byte{1};
  EXPECT_FALSE(s.say_huge_next());
}

TEST_F(samples_of_runs, a_run_or_two_say_nothing) {
  for (const bool sparse : {true, false}) {
    sampled s;
    s.run(1, 7, sparse ? 7 * grain_size : 1);
    EXPECT_FALSE(s.say_huge_next());
    s.open();
    s.run(grains_per_chunk, 8, sparse ? 1 : 8 * grain_size);  // an eighth of the chunk
    EXPECT_EQ(!sparse, s.say_huge_next());
  }
}

TEST_F(samples_of_runs, an_eighth_of_the_first_chunk_is_enough) {
  sampled s;
  s.run(1, 7, 1);
  s.run(8, 1, 1);
  EXPECT_FALSE(s.say_huge_next());
  s.open();
  EXPECT_FALSE(s.say_huge_next());  // seen, not tried
}

TEST_F(samples_of_runs, the_greater_part_of_what_is_touched_decides) {
  for (const grain sparse : {30u, 34u}) {
    sampled s;
    for (grain g = 1; g != grains_per_chunk; ++g) s.run(g, 1, g < sparse ? 1 : grain_size);
    EXPECT_EQ(sparse == 30, s.say_huge_next());
  }
}

TEST_F(samples_of_runs, spans_and_free_grains_are_no_runs) {
  sampled s;
  for (grain g = 1; g != 40; ++g) s.run(g, 1, 1, word::tag(3) | 5);
  for (grain g = 40; g != 60; ++g) *s.it.address_of(g) = std::byte{1};
  EXPECT_FALSE(s.say_huge_next());  // tried
  s.open();
  EXPECT_TRUE(s.say_huge_next());
}

TEST_F(samples_of_runs, a_chunk_in_which_runs_were_dense_is_not_looked_at_again) {
  sampled s;
  s.fill(0, 2, 2 * grain_size);
  ASSERT_TRUE(s.say_huge_next());
  ASSERT_EQ(os::discarded::zeroed, os::discard_now(s.it.base(), chunk_size));
  s.touch_each(2);
  EXPECT_TRUE(s.say_huge_next());
}

TEST_F(samples_of_runs, while_runs_are_sparse_the_latest_chunk_is_looked_at) {
  sampled s;
  s.fill(0, 2, 1);
  ASSERT_FALSE(s.say_huge_next());
  s.open();
  EXPECT_FALSE(s.say_huge_next());  // nothing in it yet
  s.open();
  s.fill(1, 2, 2 * grain_size);  // no more
  EXPECT_FALSE(s.say_huge_next());
  s.open();
  s.fill(3, 2, 2 * grain_size);
  EXPECT_TRUE(s.say_huge_next());
  EXPECT_FALSE(s.samples.say_sparse());
}

TEST_F(samples_of_runs, what_lies_in_a_chunk_of_a_run_that_begins_before_it_counts) {
  sampled s;
  s.fill(0, 1, 1);
  ASSERT_FALSE(s.say_huge_next());
  s.open();
  ASSERT_TRUE(s.it.chunk(1).taken.try_take_at(0, 40));  // their words are 0
  EXPECT_FALSE(s.say_huge_next());                      // looked at: untouched
  s.open();
  ASSERT_TRUE(s.it.chunk(2).taken.try_take_at(0, 40));
  for (std::size_t at = 0; at != 40 * grain_size; at += os::page_size())
    s.it.address_of(2 * grains_per_chunk)[at] = std::byte{1};
  EXPECT_TRUE(s.say_huge_next());
}

TEST_F(samples_of_runs, a_chunk_that_another_thread_opened_with_huge_pages_or_is_about_to_open_says_nothing) {
  sampled s;
  s.fill(0, 2, 1);
  ASSERT_FALSE(s.say_huge_next());
  EXPECT_FALSE(s.say_huge_next());  // chunk 1 is not there
  s.open();
  s.it.chunk(1).kind.store(page_kind::huge, order::relaxed);
  s.fill(1, 2, 2 * grain_size);
  EXPECT_FALSE(s.say_huge_next());
}

TEST_F(samples_of_runs, without_a_page_map_runs_are_taken_for_dense) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              sampled s;
              s.fill(0, 2, 1);
              if (!os::answer(SYS_openat, EACCES)) return 1;
              return s.say_huge_next() ? 0 : 2;
            }));
}

}  // namespace
}  // namespace polder::mem
