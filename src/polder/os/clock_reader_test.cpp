#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include <cerrno>

#include <polder/os/clock.hpp>
#include <polder/os/clock_reader.hpp>
#include <polder/os/clock_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::os {
namespace {

std::uint64_t by_library(clockid_t of) {
  timespec now;
  ::clock_gettime(of, &now);
  return std::uint64_t(now.tv_sec) * 1'000'000'000 + std::uint64_t(now.tv_nsec);
}

TEST(clock, reads_as_the_c_library_does) {
  for (const clockid_t of : {CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_MONOTONIC_COARSE, CLOCK_THREAD_CPUTIME_ID}) {
    const std::uint64_t before = by_library(of), now = nanoseconds(of), after = by_library(of);
    EXPECT_LE(before, now) << of;
    EXPECT_LE(now, after) << of;
  }
}

TEST(clock, errno_is_kept) {
  errno = 1234;
  clock_in_use.store(nullptr, order::relaxed);
  EXPECT_NE(0u, coarse_milliseconds());
  EXPECT_EQ(1234, errno);
}

// The kernel is not asked where it left a vDSO, whoever else tells the time.
TEST(clock, needs_no_system_call_where_there_is_a_vdso) {
  if (::getauxval(AT_SYSINFO_EHDR) == 0) GTEST_SKIP() << "no vDSO here";
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(fine, forked([] {
              clock_in_use.store(nullptr, order::relaxed);
              if (!answer(SYS_clock_gettime, EPERM)) return 1;
              if (nanoseconds(CLOCK_MONOTONIC_COARSE) == 0) return 2;
              return 0;
            }));
}

TEST(clock, where_it_is_refused_it_is_zero) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(fine, forked([] {
              if (nanoseconds(CLOCK_THREAD_CPUTIME_ID) == 0) return 1;
              if (!answer(SYS_clock_gettime, EPERM)) return 2;
              timespec now{.tv_sec = 1, .tv_nsec = 1};
              read_clock(CLOCK_THREAD_CPUTIME_ID, now);  // which no vDSO tells
              return now.tv_sec == 0 && now.tv_nsec == 0 ? 0 : 3;
            }));
}

TEST(clock, a_test_tells_it_the_time) {
  {
    const own_time begins(1000);
    EXPECT_EQ(1000u, coarse_milliseconds());
    own_time::tell(2000);
    EXPECT_EQ(2000u, coarse_milliseconds());
    const std::uint64_t before = by_library(CLOCK_MONOTONIC);
    EXPECT_LE(before, nanoseconds(CLOCK_MONOTONIC));  // of this clock alone
  }
  const std::uint64_t before = by_library(CLOCK_MONOTONIC_COARSE);
  EXPECT_LE(before, nanoseconds(CLOCK_MONOTONIC_COARSE));
}

}  // namespace
}  // namespace polder::os
