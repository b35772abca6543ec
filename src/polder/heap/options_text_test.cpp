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
  const options o = read(
      "arena_size=3G,page_size=64K,decay_ms=0,release=free,thp=madvise,numa=on,limit=200M,target=3K,cgroup=0,"
      "populate=0,background=0,hardened=1,guard_rate=7,verbose=1,stats=1,"
      "profile=/tmp/p,profile_rate=4K,profile_signal=12,"
      "timeline=/tmp/a file,timeline_events=7,timeline_at_least=1000");
  EXPECT_EQ(o.arena_size, 3 * GiB);
  EXPECT_EQ(o.page_size, 64 * KiB);
  EXPECT_EQ(o.decay_ms, 0u);
  EXPECT_EQ(o.release, release_policy::free);
  EXPECT_EQ(o.thp, thp_policy::madvise);
  EXPECT_EQ(o.numa, numa_policy::on);
  EXPECT_EQ(o.limit, 200 * MiB);
  EXPECT_EQ(o.target, 3 * KiB);
  EXPECT_FALSE(o.cgroup);
  EXPECT_FALSE(o.populate);
  EXPECT_FALSE(o.background);
  EXPECT_TRUE(o.hardened);
  EXPECT_EQ(o.guard_rate, 7u);
  EXPECT_TRUE(o.verbose);
  EXPECT_EQ(o.stats, stats_format::text);
  EXPECT_STREQ("/tmp/p", o.profile.data());
  EXPECT_EQ(o.profile_rate, 4 * KiB);
  EXPECT_EQ(o.profile_signal, 12u);
  EXPECT_STREQ("/tmp/a file", o.timeline.data());
  EXPECT_EQ(o.timeline_events, 7u);
  EXPECT_EQ(o.timeline_at_least, 1000u);
}

TEST(options_text, blanks_case_of_suffixes_and_order) {
  EXPECT_EQ(read(" decay_ms = 5 ,\tthp=on , ").decay_ms, 5u);
  EXPECT_EQ(read("arena_size=2m").arena_size, 2 * MiB);
  EXPECT_EQ(read("arena_size=2T").arena_size, 2 * TiB);
  EXPECT_EQ(read("decay_ms=5,decay_ms=6").decay_ms, 6u);
  EXPECT_EQ(read("stats=json").stats, stats_format::json);
  EXPECT_EQ(read("stats=prometheus").stats, stats_format::prometheus);
}

TEST(options_text, what_is_written_reads_back) {
  for (const char* text :
       {"", "arena_size=1000,decay_ms=4294967295", "release=free,thp=on,numa=on,stats=1", "thp=large",
        "page_size=1M", "hardened=1,guard_rate=0", "limit=3G,target=1000,cgroup=0", "stats=0", "stats=json",
        "stats=prometheus", "profile=p,profile_rate=1,profile_signal=64", "timeline=a,timeline_at_least=5"}) {
    const options before = read(text);
    os::line_text written;
    write_options(written, before);
    EXPECT_EQ(read(written.text()), before) << written.text();
  }
}

TEST(options_text, a_line_has_room_for_the_longest) {
  const std::string name(200, 'n');
  const options before =
      read(("arena_size=18446744073709551615,page_size=1048576,decay_ms=4294967295,release=dontneed,thp=madvise,"
            "numa=off,"
            "limit=18446744073709551615,target=18446744073709551615,guard_rate=1000000000,stats=prometheus,"
            "profile_rate=1099511627775,profile_signal=64,timeline_events=100000000,timeline_at_least="
            "18446744073709551615,"
            "profile=" +
            name + ",timeline=" + name)
               .c_str());
  EXPECT_EQ(name, before.profile.data());
  os::line_text written;
  written << "polder: 100.100.100, heap scalloc-no-virtual-spans-no-madvise: ";
  const std::size_t said = written.text().size();
  write_options(written, before);
  EXPECT_EQ(before, read(std::string(written.text().substr(said)).c_str())) << written.text();
}

TEST(options_text, an_unknown_key_names_the_nearest) {
  EXPECT_EQ(complaint("decai_ms=1"), "unknown option \"decai_ms\" (did you mean \"decay_ms\"?)");
  EXPECT_EQ(complaint("stats=1,areana=1"), "unknown option \"areana\" (did you mean \"arena_size\"?)");
  EXPECT_EQ(complaint("tph=on"), "unknown option \"tph\" (did you mean \"thp\"?)");
  EXPECT_EQ(complaint("limits=1"), "unknown option \"limits\" (did you mean \"limit\"?)");
  EXPECT_EQ(complaint("STATS=1"), "unknown option \"STATS\" (did you mean \"stats\"?)");
  EXPECT_EQ(complaint("page=4K"), "unknown option \"page\" (did you mean \"page_size\"?)");
  EXPECT_NE(complaint("=1").find("unknown option \"\""), std::string::npos);
  EXPECT_NE(complaint(std::string(10000, 'x')).find("did you mean"), std::string::npos);
}

TEST(options_text, a_bad_value_says_what_it_takes) {
  EXPECT_EQ(complaint("decay_ms=soon"),
            "bad value \"soon\" for option \"decay_ms\": it takes milliseconds, 0 to 4294967295");
  EXPECT_EQ(complaint("verbose"), "bad value \"\" for option \"verbose\": it takes 0 or 1");
  EXPECT_EQ(complaint("stats=yes"), "bad value \"yes\" for option \"stats\": it takes 0, 1, json or prometheus");
  for (const char* text : {"decay_ms=4294967296",
                           "decay_ms=-1",
                           "decay_ms=1s",
                           "arena_size=K",
                           "arena_size=1KK",
                           "arena_size=18446744073709551616",
                           "arena_size=16777216T",
                           "arena_size=",
                           "page_size=5000",
                           "page_size=2K",
                           "page_size=2M",
                           "thp=always",
                           "thp=",
                           "numa=1",
                           "limit=most",
                           "target=1.5G",
                           "cgroup=off",
                           "release=never",
                           "populate=2",
                           "verbose=yes",
                           "stats=01",
                           "stats=2",
                           "stats=JSON",
                           "hardened=on",
                           "guard_rate=1000000001",
                           "profile_rate=0",
                           "profile_rate=1025G",
                           "profile_signal=65",
                           "timeline_events=0",
                           "timeline_events=100000001",
                           "timeline_at_least=1us"})
    EXPECT_NE(complaint(text).find("bad value"), std::string::npos) << text;
}

TEST(options_text, a_files_name_fits_or_is_refused) {
  EXPECT_EQ(std::string(longest_file, 'x'), read("timeline=" + std::string(longest_file, 'x')).timeline.data());
  EXPECT_NE(complaint("timeline=" + std::string(longest_file + 1, 'x')).find("it takes a file's name, 200 letters"),
            std::string::npos);
  EXPECT_EQ(read("timeline=long,timeline=b").timeline, read("timeline=b").timeline);
  EXPECT_EQ(read("timeline=b,timeline="), options{});
}

TEST(options_text, reading_stops_at_the_first_mistake) {
  options o;
  EXPECT_EQ(read_options("decay_ms=5,thp=huge,stats=1", o).what, option_error::bad_value);
  EXPECT_EQ(o.decay_ms, 5u);
  EXPECT_EQ(o.stats, stats_format::off);
}

// ---- options that only one heap has

constexpr std::string_view models[] = {"thread", "core"};
constexpr tunable own[] = {number("reuse_percent", "0 to 100", 0, 100, 80),
                           bytes("span_size", "2M to 128M", 2 * MiB, 128 * MiB, 2 * MiB),
                           word("lab", "thread or core", models, 0)};

std::string own_complaint(std::string_view text) {
  options o = defaults(own);
  os::line_text line;
  describe(line, read_options(text, o, own));
  return std::string(line.text());
}

TEST(tunables, have_defaults_and_are_read_and_written_beside_the_others) {
  options o = defaults(own);
  EXPECT_EQ(80u, o.tuned[0]);
  EXPECT_EQ(option_error::none, read_options("lab=core,decay_ms=7,reuse_percent=100,span_size=4M", o, own).what);
  EXPECT_EQ(100u, o.tuned[0]);
  EXPECT_EQ(4 * MiB, o.tuned[1]);
  EXPECT_EQ(1u, o.tuned[2]);
  EXPECT_EQ(7u, o.decay_ms);
  os::line_text written;
  write_options(written, o, own);
  EXPECT_NE(std::string_view::npos, written.text().find(",reuse_percent=100,span_size=4M,lab=core"));
  options again = defaults(own);
  EXPECT_EQ(option_error::none, read_options(written.text(), again, own).what);
  EXPECT_EQ(o, again);
}

TEST(tunables, mistakes_are_told_as_with_the_others) {
  EXPECT_EQ(own_complaint("reuse_percent=101"),
            "bad value \"101\" for option \"reuse_percent\": it takes 0 to 100");
  EXPECT_EQ(own_complaint("lab=socket"), "bad value \"socket\" for option \"lab\": it takes thread or core");
  EXPECT_EQ(own_complaint("span_size=1M"), "bad value \"1M\" for option \"span_size\": it takes 2M to 128M");
  EXPECT_EQ(own_complaint("span_sise=4M"), "unknown option \"span_sise\" (did you mean \"span_size\"?)");
  EXPECT_NE(complaint("lab=core").find("unknown option"), std::string::npos) << "of another heap";
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
