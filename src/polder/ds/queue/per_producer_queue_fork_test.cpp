// per_producer_queue in the child of a fork that came while a thread was in the middle of a put.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <new>
#include <semaphore>
#include <thread>
#include <utility>

#include <polder/base/sanitizers.hpp>
#include <polder/ds/cut_off_test.hpp>
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

// Memory of its own pages, so that a thread can be stopped where it writes to it: the latest block of a segment's size, and
// of a lane's.
struct in_pages {
  static inline pages_to_write segment, lane;

  static std::size_t whole_pages(std::size_t n) {
    const auto page = std::size_t(::sysconf(_SC_PAGESIZE));
    return (n + page - 1) / page * page;
  }
  static void* operator new(std::size_t n) {
    const std::size_t bytes = whole_pages(n);
    void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    if (n > 2500) segment = {p, bytes};
    else if (n > 100 && n < 2000) lane = {p, bytes};
    return p;
  }
  static void operator delete(void* p, std::size_t n) noexcept { ::munmap(p, whole_pages(n)); }
};

// The first put past a segment, cut off where it first writes to the segment before, or to the lane.
void cut_off_between_segments(const pages_to_write& where) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  using numbers = per_producer_queue<long, smr::debra, in_pages>;
  constexpr long a_segment = 512;
  const auto next_are = [](numbers& q, long from, long to) {
    for (long n = from; n != to; ++n) {
      const auto e = q.get();
      if (!e || *e != n) return false;
    }
    return !q.get().has_value();
  };
  stops_at_a_write stopped;
  eager::drained<smr::debra> d;
  numbers q(d);
  static_cast<void>(smr::thread_slot::mine());
  std::thread putter([&] {
    for (long n = 0; n != a_segment; ++n) q.put(long(n));
    stopped.at(where);
    q.put(long(a_segment));
  });
  stopped.wait();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    stopped.forget();
    std::thread([&] {
      for (long n = 0; n != 2 * a_segment; ++n) q.put(a_segment + n);
    }).join();
    ::_exit(next_are(q, 0, 3 * a_segment) ? 0 : 1);
  }
  stopped.go_on();
  putter.join();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(next_are(q, 0, a_segment + 1));
}

TEST(per_producer_queue_fork, a_segment_that_was_not_linked_yet_is_not_the_last) {
  cut_off_between_segments(in_pages::segment);
}

TEST(per_producer_queue_fork, a_segment_that_was_linked_becomes_the_last) {
  cut_off_between_segments(in_pages::lane);
}

}  // namespace
}  // namespace polder::ds
