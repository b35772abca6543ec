#include <polder/os/heavy_fence.hpp>

#include <gtest/gtest.h>

#include <cerrno>

#include <polder/os/answered_test.hpp>
#include <polder/os/dekker_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::os {
namespace {

TEST(heavy_fence, once_registered_it_works_again_and_in_a_child) {
  errno = 77;
  if (!register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  EXPECT_TRUE(heavy_fence());
  EXPECT_TRUE(register_heavy_fence());
  EXPECT_TRUE(heavy_fence());
  EXPECT_EQ(77, errno);
  EXPECT_EQ(fine, forked([] { return register_heavy_fence() && heavy_fence() && errno == 77 ? 0 : 1; }));
}

TEST(heavy_fence, a_kernel_or_a_filter_that_refuses_is_heard) {
  if (const char* why = lacks_filters()) GTEST_SKIP() << why;
  for (const int error : {ENOSYS, EPERM, EINVAL})
    EXPECT_EQ(fine, forked([error] {
                if (!answer(SYS_membarrier, error)) return 1;
                errno = 77;
                if (register_heavy_fence()) return 2;
                if (heavy_fence()) return 3;
                return errno == 77 ? 0 : 4;
              }))
        << "errno " << error;
}

TEST(heavy_fence, not_both_sides_miss_the_others_store) {
  if (!register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  EXPECT_EQ(0, both_missed(3'000, [] { EXPECT_TRUE(heavy_fence()); }));
}

}  // namespace
}  // namespace polder::os
