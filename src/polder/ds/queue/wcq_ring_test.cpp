// wcq_ring under what is asked of every collection, its capacity, its order in little room, all of it on the slow path too;
// and that others end an operation whose thread stands still, wherever it does.
#include <polder/ds/queue/wcq_ring.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/producers_test.hpp>
#include <polder/ds/standstill_test.hpp>

namespace polder::ds::collection_suite {
namespace {

template <class T, class R, class Memory>
struct slow_path_only : wcq_ring<T, R, Memory> {
  slow_path_only() : wcq_ring<T, R, Memory>(4096, 0, 1) {}
};

POLDER_COLLECTION_SUITE(wcq_ring, wcq_ring);
POLDER_COLLECTION_SUITE(wcq_slow_path, slow_path_only);

using ring = wcq_ring<long, smr::leaky>;

TEST(wcq_ring, holds_what_its_capacity_says_and_gives_it_back_in_order) {
  for (const unsigned patience : {0, 1, 16}) {
    for (const std::size_t asked : {1, 2, 3, 8, 100}) {
      ring r(asked, patience, 1);
      ASSERT_GE(r.capacity(), asked);
      for (long round = 0; round != 9; ++round) {
        for (std::size_t i = 0; i != r.capacity(); ++i) ASSERT_TRUE(r.enqueue(long(i)));
        ASSERT_FALSE(r.enqueue(-1)) << asked;
        ASSERT_EQ(*r.dequeue(), 0);
        ASSERT_TRUE(r.enqueue(long(r.capacity())));
        for (std::size_t i = 1; i <= r.capacity(); ++i) ASSERT_EQ(*r.dequeue(), long(i));
        for (std::size_t i = 0; i != 4 * r.capacity(); ++i) ASSERT_FALSE(r.dequeue().has_value());
      }
    }
  }
}

TEST(wcq_ring, refuses_what_it_cannot_be_made_with) {
  EXPECT_THROW(ring(0), std::invalid_argument);
  EXPECT_THROW(ring(4, 16, 0), std::invalid_argument);
}

TEST(wcq_ring, keeps_the_order_of_each_putter_in_little_room) {
  for (const unsigned patience : {0, 1, 16}) {
    for (const std::size_t capacity : {1, 4, 64}) {
      ring r(capacity, patience, 1 + patience);
      EXPECT_TRUE(in_order_of_putters(r, 2, 2, 300));
      EXPECT_FALSE(r.dequeue().has_value());
    }
  }
}

TEST(wcq_ring, threads_that_are_taken_off_inside_lose_nothing) {
  for (const unsigned patience : {0, 16}) {
    wcq_ring<hesitant, smr::leaky> q(8, patience, 2);
    EXPECT_TRUE(in_order_of_putters(q, 2, 2, 1'000));
    EXPECT_FALSE(q.dequeue().has_value());
  }
}

TEST(wcq_ring, is_ended_by_a_thread_that_never_used_it) {
  auto of = std::make_unique<ring>(8);
  std::thread([&] {
    for (long i = 0; i != 5; ++i) of->enqueue(long(i));
  }).join();
  std::vector<std::thread> crowd;  // numbers of their own
  std::binary_semaphore all{0};
  for (int i = 0; i != 9; ++i) {
    crowd.emplace_back([&] {
      const own_number self;
      all.acquire();
      all.release();
    });
  }
  std::thread([&] { of.reset(); }).join();
  all.release();
  for (std::thread& t : crowd) t.join();
}

using parking = wcq_ring_under<long, smr::leaky, heap_memory, parks>;

constexpr helped_step in_both[] = {helped_step::announced, helped_step::claimed, helped_step::drawn,
                                   helped_step::over};
constexpr helped_step of_entering[] = {helped_step::announced, helped_step::claimed, helped_step::drawn,
                                       helped_step::undecided, helped_step::entered, helped_step::over};

// A thread stands still in a put, at a step of its get of a free place (the first time it comes to it) or of its put of the
// filled one (the second). The others go round the ring many times; then it goes on, and all is there once.
TEST(wcq_ring, a_putter_that_stands_still_stops_nobody) {
  for (const helped_step step : of_entering) {
    const bool entering = step == helped_step::undecided || step == helped_step::entered;
    for (unsigned time = 0; time != (entering ? 1 : 2); ++time) {
      parking q(4, 0, 1);
      standstill still{step, time};
      std::thread stopped([&] {
        parks::mine = &still;
        EXPECT_TRUE(q.enqueue(100));
      });
      still.there.acquire();
      unsigned seen = 0;
      for (long i = 0; i != 400; ++i) {
        ASSERT_TRUE(q.enqueue(1000 + i)) << int(step) << time;
        std::optional<long> n = q.dequeue();
        ASSERT_TRUE(n.has_value()) << int(step) << time;
        seen += *n == 100;
      }
      const bool announced_place = entering || time == 1;
      EXPECT_EQ(seen, announced_place ? 1u : 0u) << "at " << int(step) << ", time " << time;
      still.go_on.release();
      stopped.join();
      unsigned left = 0;
      while (const std::optional<long> n = q.dequeue()) {
        ++left;
        seen += *n == 100;
      }
      EXPECT_EQ(seen, 1u);
      EXPECT_EQ(left, 1u);
      for (long i = 0; i != 4; ++i) ASSERT_TRUE(q.enqueue(long(i)));
      ASSERT_FALSE(q.enqueue(4));
    }
  }
}

TEST(wcq_ring, a_getter_that_stands_still_stops_nobody) {
  for (const helped_step step : in_both) {
    for (unsigned time = 0; time != 2; ++time) {
      parking q(4, 0, 1);
      ASSERT_TRUE(q.enqueue(1));
      std::optional<long> got;
      standstill still{step, time};
      std::thread stopped([&] {
        parks::mine = &still;
        got = q.dequeue();
      });
      still.there.acquire();
      long in = 1, out = 0;
      for (long i = 0; i != 400; ++i) {
        ASSERT_TRUE(q.enqueue(2 + i)) << int(step) << time;
        in += 2 + i;
        if (const std::optional<long> n = q.dequeue()) out += *n;
      }
      still.go_on.release();
      stopped.join();
      ASSERT_TRUE(got.has_value());
      while (const std::optional<long> n = q.dequeue()) out += *n;
      EXPECT_EQ(in, out + *got) << int(step) << time;
      for (long i = 0; i != 4; ++i) ASSERT_TRUE(q.enqueue(long(i)));
      ASSERT_FALSE(q.enqueue(4));
    }
  }
}

// A thread that helps another stands still in the middle of it.
TEST(wcq_ring, a_helper_that_stands_still_stops_nobody) {
  for (const helped_step step : of_entering) {
    for (unsigned time = 0; time != 12; ++time) {
      parking q(4, 0, 1);
      standstill of_owner{helped_step::announced, 1}, of_helper{step, time};
      std::thread owner([&] {
        parks::mine = &of_owner;
        EXPECT_TRUE(q.enqueue(100));
      });
      of_owner.there.acquire();
      long sum = 0, of_helpers = 0;
      std::thread helper([&] {
        parks::mine = &of_helper;
        for (long i = 0; i != 20; ++i) {
          if (q.enqueue(1000 + i)) of_helpers += 1000 + i;
          if (const std::optional<long> n = q.dequeue()) of_helpers -= *n;
        }
        of_helper.there.release();  // if it did not come there
      });
      of_helper.there.acquire();
      for (long i = 0; i != 100; ++i) {
        if (q.enqueue(2000 + i)) sum += 2000 + i;
        if (const std::optional<long> n = q.dequeue()) sum -= *n;
      }
      of_owner.go_on.release();
      owner.join();
      of_helper.go_on.release();
      helper.join();
      while (const std::optional<long> n = q.dequeue()) sum -= *n;
      EXPECT_EQ(sum + of_helpers + 100, 0) << int(step) << time;
      for (long i = 0; i != 4; ++i) ASSERT_TRUE(q.enqueue(long(i)));
      ASSERT_FALSE(q.enqueue(4));
    }
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
