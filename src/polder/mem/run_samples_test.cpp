#include <polder/mem/run_samples.hpp>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

#include <polder/mem/fresh_arena_test.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/os/resident_pages.hpp>

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
  std::size_t pages_there(grain first, unsigned n) const {
    return os::resident_pages{}.count(it.address_of(first), n * grain_size);
  }
};

// Dense at first, and then a chunk with huge pages, as far as anybody says: memory that nobody touched reads as zero.
struct in_huge_pages : sampled {
  in_huge_pages() {
    fill(0, 4, 4 * grain_size);
    EXPECT_TRUE(say_huge_next());
    open_huge();
  }
  // One or a few, full of runs of n grains if there are to be any.
  void open_huge(unsigned n = 0, std::size_t touched = 0) {
    chunk_number c = it.main_open();
    for (open(); c != it.main_open(); ++c) {
      it.chunk(c).kind.store(page_kind::huge, order::relaxed);
      if (n != 0) fill(c, n, touched);
    }
  }
};

struct samples_of_runs : testing::Test {
  void SetUp() override {
    if (const char* why = os::lacks_page_map()) GTEST_SKIP() << why;
  }
};

TEST_F(samples_of_runs, where_there_are_no_runs_they_are_taken_for_dense) {
  sampled s;
  EXPECT_TRUE(s.say_huge_next());
  EXPECT_FALSE(s.samples.say_sparse());
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
  EXPECT_TRUE(s.say_huge_next());
  s.touch_each(4);
  EXPECT_FALSE(s.say_huge_next());
}

TEST_F(samples_of_runs, a_run_or_two_say_nothing) {
  sampled s;
  s.run(1, 7, 1);
  EXPECT_TRUE(s.say_huge_next());
  s.run(8, 1, 1);
  EXPECT_FALSE(s.say_huge_next());  // with an eighth of the chunk
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
  EXPECT_TRUE(s.say_huge_next());
  s.run(60, 1, grain_size);
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

TEST_F(samples_of_runs, in_huge_pages_runs_of_little_but_zeroes_are_doubted_and_a_chunk_with_small_pages_is_tried) {
  for (const bool sparse : {true, false}) {
    in_huge_pages s;
    s.fill(1, 4, 1);
    EXPECT_FALSE(s.say_huge_next());
    EXPECT_TRUE(s.samples.say_sparse());  // they may lie in it
    EXPECT_FALSE(s.say_huge_next());      // it is not there yet
    s.open();
    s.fill(2, 4, sparse ? 1 : 4 * grain_size);
    EXPECT_EQ(!sparse, s.say_huge_next());
    EXPECT_EQ(sparse, s.samples.say_sparse());
  }
}

TEST_F(samples_of_runs, what_was_tried_for_zeroes_in_vain_is_not_tried_again_and_what_was_not_is) {
  for (const bool in_vain : {true, false}) {
    in_huge_pages s;
    s.fill(1, 4, 1);
    ASSERT_FALSE(s.say_huge_next());
    s.open();
    s.fill(2, 4, in_vain ? 4 * grain_size : 1);
    if (!in_vain) {
      ASSERT_FALSE(s.say_huge_next());
      s.open();
      s.fill(3, 4, 4 * grain_size);
    }
    ASSERT_TRUE(s.say_huge_next());
    while (s.it.main_open() < 11) s.open_huge(4, 1);
    EXPECT_EQ(in_vain, s.say_huge_next());
  }
}

TEST_F(samples_of_runs, a_trial_of_which_nothing_is_touched_says_dense_but_while_it_is_empty_it_goes_on) {
  in_huge_pages s;
  s.fill(1, 4, 1);
  ASSERT_FALSE(s.say_huge_next());
  for (; s.it.main_open() < 2 + longest_run / grains_per_chunk; s.open()) EXPECT_FALSE(s.say_huge_next());
  EXPECT_TRUE(s.say_huge_next());
  EXPECT_FALSE(s.samples.say_sparse());

  in_huge_pages other;
  other.fill(1, 4, 1);
  ASSERT_FALSE(other.say_huge_next());
  other.open();
  other.fill(2, 4, 0);
  EXPECT_TRUE(other.say_huge_next());
}

TEST_F(samples_of_runs,
       zeroes_are_doubted_where_nearly_all_runs_hold_them_and_they_are_a_third_of_the_last_chunks) {
  struct {
    unsigned runs, of_them_dense;
    bool doubted;
  } const cases[] = {{8, 0, true}, {8, 1, true}, {8, 2, false}, {4, 0, true}, {3, 0, false}};
  for (const auto& of : cases) {
    in_huge_pages s;
    while (s.it.main_open() != 8) s.open_huge();
    for (chunk_number c = 1; c != 8; ++c)
      for (unsigned i = 0; i != of.runs; ++i)
        s.run(c * grains_per_chunk + 8 * i, 8, i < of.of_them_dense ? 8 * grain_size : 1);
    EXPECT_EQ(of.doubted, !s.say_huge_next()) << of.runs << ", " << of.of_them_dense;
  }
}

TEST_F(samples_of_runs, a_page_is_no_zero_whose_words_are_small_numbers_or_large_or_that_cannot_be_read) {
  const auto write = [](sampled& s, auto put) {
    for (std::size_t at = 0; at != chunk_size; at += os::page_size()) put(s.it.address_of(grains_per_chunk) + at);
  };
  const auto doubted = [&](auto put) {
    in_huge_pages s;
    s.fill(1, 4, 1);
    write(s, put);
    return !s.say_huge_next();
  };
  EXPECT_TRUE(doubted([](std::byte*) {}));
  EXPECT_FALSE(doubted([](std::byte* p) { p[8] = p[1032] = std::byte{1}; }));
  EXPECT_FALSE(doubted([](std::byte* p) { p[15] = p[1039] = std::byte{0x3f}; }));  // 1.0
  EXPECT_FALSE(doubted([](std::byte* p) { ASSERT_TRUE(os::deny(p, os::page_size())); }));
}

TEST_F(samples_of_runs, what_is_empty_of_a_run_that_is_used_counts_and_of_one_that_is_not_does_not) {
  for (const bool used : {true, false}) {
    in_huge_pages s;
    s.open_huge();
    s.run(grains_per_chunk + 60, 4, used ? 1 : 0);
    ASSERT_TRUE(s.it.chunk(2).taken.try_take_at(0, grains_per_chunk));  // all of it that run's
    EXPECT_EQ(used, !s.say_huge_next());
    if (!used) continue;
    s.open();
    s.open();
    s.run(3 * grains_per_chunk + 60, 4, 1);
    ASSERT_TRUE(s.it.chunk(4).taken.try_take_at(0, grains_per_chunk));
    EXPECT_FALSE(s.say_huge_next());
    EXPECT_TRUE(s.samples.say_sparse());
  }
}

TEST_F(samples_of_runs, what_was_asked_for_as_zeroes_counts_though_nobody_has_used_it) {
  // Its grain may be a span's by now: then there is anything.
  for (const std::uint8_t as_zeroes : {0, 1, 0x7f}) {
    in_huge_pages s;
    const auto fill_as = [&](chunk_number c) {
      s.fill(c, 4, 0);
      for (unsigned at = 0; at != grains_per_chunk; at += 4)
        s.it.run_at(c * grains_per_chunk + at).as_zeroes = as_zeroes;
    };
    fill_as(1);
    EXPECT_EQ(as_zeroes == 1, !s.say_huge_next()) << unsigned{as_zeroes};
    if (as_zeroes != 1) continue;
    s.open();
    fill_as(2);
    EXPECT_FALSE(s.say_huge_next());
    s.open();
    EXPECT_FALSE(s.say_huge_next());  // sparse, not only tried
  }
}

TEST_F(samples_of_runs, a_look_for_zeroes_leaves_a_run_that_nobody_has_touched_as_it_was) {
  sampled s;
  s.run(1, 63, 0);
  s.open();
  s.it.chunk(1).kind.store(page_kind::huge, order::relaxed);
  ASSERT_TRUE(s.it.chunk(1).taken.try_take_at(0, 34));  // the rest of it
  EXPECT_TRUE(s.say_huge_next());
  EXPECT_EQ(0u, s.pages_there(1, 63 + 34));
  EXPECT_TRUE(s.say_huge_next());
}

TEST_F(samples_of_runs, in_huge_pages_a_look_brings_none_in) {
  {
    in_huge_pages s;
    s.fill(1, 4, 0);
    EXPECT_TRUE(s.say_huge_next());
    EXPECT_EQ(0u, s.pages_there(grains_per_chunk, grains_per_chunk));
  }
  in_huge_pages s;
  s.fill(1, grains_per_chunk, 1);
  EXPECT_FALSE(s.say_huge_next());
  EXPECT_EQ(0u, s.pages_there(grains_per_chunk * 3 / 2, grains_per_chunk / 2));
}

TEST_F(samples_of_runs, without_a_page_map_runs_are_taken_for_dense) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              sampled s;
              s.fill(0, 2, 1);
              if (!os::answer(SYS_openat, EACCES)) return 1;
              return s.say_huge_next() ? 0 : 2;
            }));
  EXPECT_EQ(os::fine, os::forked([] {
              in_huge_pages s;
              s.fill(1, 4, 1);
              if (!os::answer(SYS_openat, EACCES)) return 1;
              return s.say_huge_next() ? 0 : 2;
            }));
}

}  // namespace
}  // namespace polder::mem
