// cts_queue under what is asked of every collection, and those of its dequeues that came first.
#include <polder/ds/queue/cts_queue.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(cts_queue, cts_queue);

// A dequeue reads on from nodes that are unlinked: what protects single pointers is refused.
static_assert(suits<smr::debra>(cts_queue<long, smr::debra>::info));
static_assert(!suits<smr::hazard>(cts_queue<long, smr::hazard>::info));

// More threads than processors wait before there is anything; each gets one, and what came and went is reclaimed
// meanwhile.
TEST(cts_queue, dequeues_that_outnumber_enqueues_wait_for_them) {
  constexpr long waiting = 8;
  eager::region::domain d;
  cts_queue<long, eager::region> q(d);
  std::vector<long> got(waiting);
  std::vector<std::thread> threads;
  for (long t = 0; t != waiting; ++t) threads.emplace_back([&, t] { got[std::size_t(t)] = q.dequeue().value(); });
  for (long n = 1; n <= waiting; ++n) q.enqueue(n);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(std::accumulate(got.begin(), got.end(), 0L), waiting * (waiting + 1) / 2);
}

TEST(cts_queue, what_does_not_overlap_is_in_order) {
  eager::region::domain d;
  cts_queue<long, eager::region> q(d);
  std::thread([&] { q.enqueue(1); }).join();
  q.enqueue(2);
  std::thread([&] {
    q.enqueue(3);
    std::thread([&] { q.enqueue(4); }).join();
  }).join();
  for (long n = 1; n != 5; ++n) EXPECT_EQ(q.dequeue(), n);
}

// An element whose move, by one thread, throws when it is told to.
struct withheld {
  static inline thread_local bool (*told)() = nullptr;
  long n;
  explicit withheld(long i) : n(i) {}
  withheld(withheld&& other) : n(other.n) {
    if (told != nullptr && told()) throw std::runtime_error("a move");
  }
};

// One dequeue has the only element in hand and cannot hand it over; the other has begun to wait for the next one.
TEST(cts_queue, who_waits_gets_what_another_could_not_hand_over) {
  static std::atomic<bool> in_hand, waits;
  in_hand = waits = false;
  eager::region::domain d;
  cts_queue<withheld, eager::region> q(d);
  q.enqueue(withheld(7));
  std::thread cannot([&] {
    withheld::told = [] {
      in_hand = true;
      while (!waits) std::this_thread::yield();
      return true;
    };
    EXPECT_THROW(q.dequeue(), std::runtime_error);
  });
  while (!in_hand) std::this_thread::yield();
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that it is waited for, most likely
    waits = true;
  });
  EXPECT_EQ(q.dequeue()->n, 7);
  cannot.join();
  later.join();
}

}  // namespace
}  // namespace polder::ds::collection_suite
