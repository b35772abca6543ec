#include <gtest/gtest.h>

#include <string>

#include <polder/base/bits.hpp>
#include <polder/heap/options_text.hpp>

namespace polder::heap {
namespace {

options read(std::string_view text) {
  options o;
  const option_error error = read_options(text, o);
  EXPECT_EQ(error.what, option_error::none) << text;
  return o;
}

std::string complaint(std::string_view text) {
  options o;
  os::line_text line;
  describe(line, read_options(text, o));
  return std::string(line.text());
}

TEST(options_text, nothing_means_the_defaults) {
  for (const char* text : {"", ",", " , ,", "  "}) EXPECT_EQ(read(text), options{}) << '"' << text << '"';
}

TEST(options_text, every_key) {
  const options o =
      read("arena_size=3G,page_size=64K,decay_ms=0,release=free,thp=madvise,populate=0,verbose=1,stats=1");
  EXPECT_EQ(o.arena_size, 3 * GiB);
  EXPECT_EQ(o.page_size, 64 * KiB);
  EXPECT_EQ(o.decay_ms, 0u);
  EXPECT_EQ(o.release, release_policy::free);
  EXPECT_EQ(o.thp, thp_policy::madvise);
  EXPECT_FALSE(o.populate);
  EXPECT_TRUE(o.verbose);
  EXPECT_TRUE(o.stats);
}

TEST(options_text, blanks_case_of_suffixes_and_order) {
  EXPECT_EQ(read(" decay_ms = 5 ,\tthp=on , ").decay_ms, 5u);
  EXPECT_EQ(read("arena_size=2m").arena_size, 2 * MiB);
  EXPECT_EQ(read("arena_size=2T").arena_size, 2 * TiB);
  EXPECT_EQ(read("decay_ms=5,decay_ms=6").decay_ms, 6u);
}

TEST(options_text, what_is_written_reads_back) {
  for (const char* text :
       {"", "arena_size=1000,decay_ms=4294967295", "release=free,thp=on,stats=1", "page_size=1M"}) {
    const options before = read(text);
    os::line_text written;
    write_options(written, before);
    EXPECT_EQ(read(written.text()), before) << written.text();
  }
}

TEST(options_text, an_unknown_key_names_the_nearest) {
  EXPECT_EQ(complaint("decai_ms=1"), "unknown option \"decai_ms\" (did you mean \"decay_ms\"?)");
  EXPECT_EQ(complaint("stats=1,areana=1"), "unknown option \"areana\" (did you mean \"arena_size\"?)");
  EXPECT_EQ(complaint("tph=on"), "unknown option \"tph\" (did you mean \"thp\"?)");
  EXPECT_EQ(complaint("STATS=1"), "unknown option \"STATS\" (did you mean \"stats\"?)");
  EXPECT_EQ(complaint("page=4K"), "unknown option \"page\" (did you mean \"page_size\"?)");
  EXPECT_NE(complaint("=1").find("unknown option \"\""), std::string::npos);
  EXPECT_NE(complaint(std::string(10000, 'x')).find("did you mean"), std::string::npos);
}

TEST(options_text, a_bad_value_says_what_it_takes) {
  EXPECT_EQ(complaint("decay_ms=soon"),
            "bad value \"soon\" for option \"decay_ms\": it takes milliseconds, 0 to 4294967295");
  EXPECT_EQ(complaint("stats"), "bad value \"\" for option \"stats\": it takes 0 or 1");
  for (const char* text :
       {"decay_ms=4294967296", "decay_ms=-1", "decay_ms=1s", "arena_size=K", "arena_size=1KK",
        "arena_size=18446744073709551616", "arena_size=16777216T", "arena_size=", "page_size=5000", "page_size=2K",
        "page_size=2M", "thp=always", "thp=", "release=never", "populate=2", "verbose=yes", "stats=01"})
    EXPECT_NE(complaint(text).find("bad value"), std::string::npos) << text;
}

TEST(options_text, reading_stops_at_the_first_mistake) {
  options o;
  EXPECT_EQ(read_options("decay_ms=5,thp=huge,stats=1", o).what, option_error::bad_value);
  EXPECT_EQ(o.decay_ms, 5u);
  EXPECT_FALSE(o.stats);
}

TEST(options_text, edit_distance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("tph", "thp"), 1u);
  EXPECT_EQ(edit_distance("thp", "thp"), 0u);
}

}  // namespace
}  // namespace polder::heap
