#include <polder/os/heavy_fence.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>
#include <polder/sync/atomic.hpp>

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

// Dekker's question, asked as the heap asks it: the light side has nothing but a compiler fence.
TEST(heavy_fence, not_both_sides_miss_the_others_store) {
  if (!register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  constexpr int rounds = 3'000;
  alignas(128) static atomic<int> light, heavy, round, done;
  alignas(128) static int light_saw, heavy_saw;
  light.store(0, order::relaxed), heavy.store(0, order::relaxed);
  round.store(0, order::relaxed), done.store(0, order::relaxed);
  std::thread other([] {
    for (int r = 1; r <= rounds; ++r) {
      while (round.load(order::acquire) < r) std::this_thread::yield();
      light.store(r, order::relaxed);
      signal_fence();
      light_saw = heavy.load(order::relaxed);
      done.store(r, order::release);
    }
  });
  int both_missed = 0;
  for (int r = 1; r <= rounds; ++r) {
    round.store(r, order::release);
    for (int spin = r % 64; spin != 0; --spin) signal_fence();  // meet the other side at different moments
    heavy.store(r, order::relaxed);
    EXPECT_TRUE(heavy_fence());
    heavy_saw = light.load(order::relaxed);
    while (done.load(order::acquire) < r) std::this_thread::yield();
    both_missed += light_saw < r && heavy_saw < r;
  }
  other.join();
  EXPECT_EQ(0, both_missed);
}

}  // namespace
}  // namespace polder::os
