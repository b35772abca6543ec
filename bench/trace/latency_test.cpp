// Buckets that cover all durations without a gap, and percentiles that lie where the values do.
#include "trace/latency.hpp"

#include <gtest/gtest.h>

namespace polder::trace {
namespace {

TEST(trace_latency, buckets_follow_each_other) {
  for (unsigned n = 0; n < 500; ++n) {
    EXPECT_EQ(latency::buckets::lowest(n + 1), latency::buckets::highest(n) + 1);
    EXPECT_EQ(latency::buckets::index(latency::buckets::lowest(n)), n);
    EXPECT_EQ(latency::buckets::index(latency::buckets::highest(n)), n);
  }
  for (std::uint64_t ns = 32; ns < 1'000'000'000; ns = ns * 5 / 4) {
    const std::size_t n = latency::buckets::index(ns);
    EXPECT_LE(static_cast<double>(latency::buckets::highest(n) - latency::buckets::lowest(n)),
              static_cast<double>(ns) * 0.0625);
  }
  EXPECT_NO_FATAL_FAILURE(latency().add(~std::uint64_t{0}));
}

TEST(trace_latency, percentiles) {
  latency l;
  for (std::uint64_t ns = 1; ns <= 1000; ++ns) l.add(ns);
  latency other;
  other.add(70'000);
  l.join(other);
  EXPECT_EQ(l.count(), 1001u);
  EXPECT_NEAR(static_cast<double>(l.percentile(50)), 500, 32);
  EXPECT_NEAR(static_cast<double>(l.percentile(99)), 990, 62);
  EXPECT_EQ(l.percentile(99.99), 70'000u);
  EXPECT_EQ(latency().percentile(50), 0u);
}

TEST(trace_latency, counts_as_many_as_a_long_replay_makes) {
  latency l;
  l.add(20);
  for (int n = 0; n < 40; ++n) l.join(latency(l));
  l.add(1'000'000);
  EXPECT_EQ(l.count(), (std::uint64_t{1} << 40) + 1);
  EXPECT_EQ(l.percentile(99.99), 20u);
}

}  // namespace
}  // namespace polder::trace
