// kogan_petrank_queue under what is asked of every collection, without its fast path too; and that others end an operation
// whose thread stands still, wherever it does.
#include <polder/ds/queue/kogan_petrank_queue.hpp>

#include <polder/ds/collection_suite_test.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <semaphore>
#include <stdexcept>
#include <thread>

namespace polder::ds::collection_suite {
namespace {

template <class T, class R, class Memory>
struct slow_path_only : kogan_petrank_queue<T, R, Memory> {
  explicit slow_path_only(typename R::domain& d) : kogan_petrank_queue<T, R, Memory>(d, 0, 1) {}
};

POLDER_COLLECTION_SUITE(kogan_petrank_queue, kogan_petrank_queue);
POLDER_COLLECTION_SUITE(kogan_petrank_slow_path, slow_path_only);

TEST(kogan_petrank_queue, a_delay_of_0_is_refused) {
  drained<smr::debra> domain;
  EXPECT_THROW((kogan_petrank_queue<long, smr::debra>(domain, 10, 0)), std::invalid_argument);
}

// Stops the thread that asked for it, once, at a point of the slow path.
struct parks {
  static inline thread_local std::optional<slow_path> here;
  static inline std::binary_semaphore parked{0}, go_on{0};
  static void at(slow_path p) noexcept {
    if (here != p) return;
    here.reset();
    parked.release();
    go_on.acquire();
  }
};

template <class R>
void others_end_it(slow_path point, bool put) {
  typename R::domain domain;
  {
    kogan_petrank_queue_under<long, R, heap_memory, parks> queue(domain, 0, 1);
    for (long i = 1; i != 4; ++i) queue.enqueue(i);
    std::optional<long> got;
    std::thread stopped([&] {
      parks::here = point;
      if (put) queue.enqueue(100);
      else got = queue.dequeue();
    });
    parks::parked.acquire();
    // As many operations as it takes to look at every thread there has ever been; each looks at one.
    long seen = 0, out = 0, sum = 0;
    for (long i = 0; i != 200; ++i) {
      queue.enqueue(1000 + i);
      const std::optional<long> n = queue.dequeue();
      ASSERT_TRUE(n.has_value());
      ++out, sum += *n;
      seen += *n == 100;
    }
    if (put) {
      EXPECT_EQ(seen, 1) << "what a thread put that stands still at point " << int(point) << " did not come out";
    } else {
      // The one that was taken for it is missing.
      while (const std::optional<long> n = queue.dequeue()) ++out, sum += *n;
      EXPECT_EQ(out, 202) << "nobody took for a thread that stands still at point " << int(point);
    }
    parks::go_on.release();
    stopped.join();
    if (!put) {
      ASSERT_TRUE(got.has_value());
      EXPECT_EQ(sum + *got, 1 + 2 + 3 + 200 * 1000 + 199 * 200 / 2);
    }
    while (const std::optional<long> n = queue.dequeue()) EXPECT_NE(*n, 100);
  }
  domain.drain();
}

TEST(kogan_petrank_queue, others_put_for_who_stands_still) {
  for (const slow_path p : {slow_path::announced, slow_path::linked, slow_path::done}) {
    others_end_it<eager::hazard>(p, true);
    others_end_it<smr::hazard>(p, true);
    others_end_it<smr::debra>(p, true);
  }
}

TEST(kogan_petrank_queue, others_get_for_who_stands_still) {
  for (const slow_path p : {slow_path::announced, slow_path::attempted, slow_path::claimed, slow_path::done}) {
    others_end_it<eager::hazard>(p, false);
    others_end_it<smr::hazard>(p, false);
    others_end_it<smr::debra>(p, false);
  }
}

// What it finds when it goes on was freed or is another's: it must not touch it.
TEST(kogan_petrank_queue, who_stood_still_may_find_it_empty) {
  for (const slow_path p : {slow_path::announced, slow_path::done}) {
    eager::hazard::domain domain;
    kogan_petrank_queue_under<long, eager::hazard, heap_memory, parks> queue(domain, 0, 1);
    std::optional<long> got;
    std::thread stopped([&] {
      parks::here = p;
      got = queue.dequeue();
    });
    parks::parked.acquire();
    for (unsigned i = 0; i != 200; ++i) EXPECT_FALSE(queue.dequeue().has_value());
    for (long i = 0; i != 50; ++i) queue.enqueue(i);
    parks::go_on.release();
    stopped.join();
    EXPECT_FALSE(got.has_value()) << int(p);
    for (long i = 0; i != 50; ++i) EXPECT_EQ(queue.dequeue(), i);
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
