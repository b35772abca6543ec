// deadline: durations of all units, as nanoseconds.
#include <polder/ds/parts/deadline.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <ratio>

namespace polder::ds {
namespace {

using std::chrono::duration;
using std::chrono::nanoseconds;

// Constants: where a conversion overflows there is none.
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();

TEST(deadline, ticks_that_are_no_multiple_of_a_nanosecond) {
  constexpr std::int64_t hertz = 2'399'987'000;  // of a processor's counter
  using ticks = duration<std::int64_t, std::ratio<1, hertz>>;
  constexpr nanoseconds one = saturated(ticks(1)), two_hours = saturated(ticks(7200 * hertz)),
                        a_tick_more = saturated(ticks(7200 * hertz + 1)), longest = saturated(ticks::max()),
                        back = saturated(ticks(-7200 * hertz - 1));
  EXPECT_EQ(one.count(), 1);
  EXPECT_EQ(two_hours.count(), 7'200'000'000'000);
  EXPECT_EQ(a_tick_more.count(), 7'200'000'000'001);
  EXPECT_EQ(longest.count(), 3'843'092'498'773'858'278);  // 122 years
  EXPECT_EQ(back.count(), -7'200'000'000'000);
}

TEST(deadline, units_of_all_sizes) {
  constexpr nanoseconds samples = saturated(duration<long, std::ratio<1, 44100>>(44100L * 86400 * 36500)),
                        days = saturated(duration<int, std::ratio<86400>>(36500)),
                        third = saturated(duration<unsigned char, std::ratio<1, 3>>(1)),
                        finest = saturated(duration<std::int64_t, std::atto>(least)),
                        half = saturated(duration<float>(-0.5f));
  EXPECT_EQ(samples, days);
  EXPECT_EQ(third.count(), 333'333'334);
  EXPECT_EQ(finest.count(), -9'223'372'036);
  EXPECT_EQ(half.count(), -500'000'000);
}

TEST(deadline, what_nanoseconds_cannot_count) {
  constexpr nanoseconds hours = saturated(std::chrono::hours::max()), ago = saturated(std::chrono::hours::min()),
                        unsigned_most = saturated(duration<std::uint64_t, std::nano>(std::uint64_t(-1))),
                        endless = saturated(duration<double>(std::numeric_limits<double>::infinity())),
                        no_number = saturated(duration<double>(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(hours.count(), most);
  EXPECT_EQ(ago.count(), least);
  EXPECT_EQ(unsigned_most.count(), most);
  EXPECT_EQ(endless.count(), most);
  EXPECT_EQ(no_number.count(), least);
}

}  // namespace
}  // namespace polder::ds
