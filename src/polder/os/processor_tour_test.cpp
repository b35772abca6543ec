#include <polder/os/processor_tour.hpp>

#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include <polder/os/answered_test.hpp>
#include <polder/os/dekker_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::os {
namespace {

cpu_set_t affinity() {
  cpu_set_t now;
  CPU_ZERO(&now);
  EXPECT_EQ(0, ::sched_getaffinity(0, sizeof now, &now));
  return now;
}

TEST(processor_tour, leaves_the_caller_where_it_may_run) {
  const cpu_set_t before = affinity();
  errno = 77;
  if (!tour_processors()) GTEST_SKIP() << "threads are kept to their processors here";
  EXPECT_EQ(77, errno);
  const cpu_set_t after = affinity();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  for (int n = 0; n != CPU_SETSIZE; ++n) {
    if (!CPU_ISSET(n, &before)) continue;
    std::thread([n] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(n, &one);
      ASSERT_EQ(0, ::sched_setaffinity(0, sizeof one, &one));
      EXPECT_TRUE(tour_processors());
      const cpu_set_t now = affinity();
      EXPECT_TRUE(CPU_EQUAL(&one, &now));
    }).join();
  }
}

TEST(processor_tour, hears_a_kernel_that_refuses) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  for (const long call : {SYS_sched_setaffinity, SYS_sched_getaffinity, SYS_openat, SYS_getdents64})
    EXPECT_EQ(fine, forked([call] {
                if (!answer(call, EPERM)) return 1;
                errno = 77;
                return tour_processors() ? 2 : errno == 77 ? 0 : 3;
              }))
        << "system call " << call;
}

TEST(processor_tour, not_both_sides_miss_the_others_store) {
  if (!tour_processors()) GTEST_SKIP() << "threads are kept to their processors here";
  EXPECT_EQ(0, both_missed(1'000, [] { EXPECT_TRUE(tour_processors()); }));
}

}  // namespace
}  // namespace polder::os
