// per_producer_queue in the child of a fork that came while a thread was in the middle of a put.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <semaphore>
#include <thread>
#include <utility>

#include <polder/base/sanitizers.hpp>
#include <polder/ds/queue/per_producer_queue.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds {
namespace {

std::binary_semaphore there{0}, on{0};

// An element whose nth move stands still.
struct element {
  static inline thread_local int moves_left = 0;
  long n;
  explicit element(long i) : n(i) {}
  element(element&& other) noexcept : n(other.n) {
    if (moves_left == 0 || --moves_left != 0) return;
    there.release();
    on.acquire();
  }
  element& operator=(element&&) = default;
};
using queue = per_producer_queue<element, smr::debra>;

bool has_next(queue& q, long n) {
  const auto e = q.get();
  return e && e->n == n;
}

// A put moves its element to itself and then into a cell.
TEST(per_producer_queue_fork, a_lane_whose_owner_is_gone_goes_on_where_it_was) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  eager::drained<smr::debra> d;
  queue q(d);
  static_cast<void>(smr::thread_slot::mine());
  std::thread putter([&] {
    q.put(element(1));
    element::moves_left = 2;
    q.put(element(2));
  });
  there.acquire();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    bool right = true;
    // The number is free again, and with it the lane is this thread's.
    std::thread([&] {
      for (long n = 3; n != 6; ++n) q.put(element(n));
    }).join();
    for (const long n : {1, 3, 4, 5}) right &= has_next(q, n);
    right &= !q.get().has_value();
    ::_exit(right ? 0 : 1);
  }
  on.release();
  putter.join();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(has_next(q, 1));
  EXPECT_TRUE(has_next(q, 2));
  EXPECT_FALSE(q.get().has_value());
}

}  // namespace
}  // namespace polder::ds
