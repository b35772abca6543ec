// per_producer_queue, to which a thread puts in the C library's last round of destructors of thread-specific data: it has its number
// until it has put, and not longer.
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>

#include <functional>
#include <thread>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/ds/queue/per_producer_queue.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds {
namespace {

// Calls f in a thread, in its last round.
struct last_round {
  explicit last_round(std::function<void()> what) : f(std::move(what)) {
    must(::pthread_key_create(&key, [](void* p) { static_cast<last_round*>(p)->round(); }) == 0);
    std::thread([this] { come_again(); }).join();
    ::pthread_key_delete(key);
  }
  void come_again() {
    smr::thread_slot::mine();
    ::pthread_setspecific(key, this);
  }
  void round() {
    if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) come_again();
    else f();
  }
  std::function<void()> f;
  pthread_key_t key;
  int rounds = 0;
};

// Tells whether the number of its thread has been given back.
struct watcher : smr::thread_watcher {
  watcher() { watch(); }
  ~watcher() { unwatch(); }
  void thread_ended(smr::thread_slot::number) noexcept override { ended = true; }
  void forked(smr::thread_slot::number) noexcept override {}
  static inline thread_local bool ended;
};
// An element that is moved by who puts it; late, if that thread's number has been given back.
struct element {
  element() = default;
  element(element&&) noexcept { late |= watcher::ended; }
  element& operator=(element&&) noexcept {
    late |= watcher::ended;
    return *this;
  }
  static inline bool late;
};

TEST(per_producer_queue_last_round, the_number_is_held_until_it_has_put) {
#if POLDER_TSAN
  GTEST_SKIP() << "in the last round ThreadSanitizer has forgotten the thread";
#endif
  constexpr unsigned cells = 512;  // of a segment
  watcher w;
  eager::drained<smr::debra> d;
  per_producer_queue<element, smr::debra> q(d);
  std::size_t inside = 0;
  const auto number_of_the_next = [] {
    smr::thread_slot::number n = 0;
    std::thread([&] { n = smr::thread_slot::mine(); }).join();
    return n;
  };
  const smr::thread_slot::number before = number_of_the_next();
  const auto put = [&](unsigned n) {
    watcher::ended = false;
    std::vector<element> some(n);
    if (n == 1) q.put(std::move(some[0]));
    else q.put_bulk(some.begin(), n);
    inside += n;
  };
  // Its lane is made; has room; has none; and both ways a segment is filled and another begun.
  for (const unsigned n : {1u, 1u, cells - 2, 1u, 2u, cells}) {
    element::late = false;
    last_round([&] { put(n); });
    EXPECT_FALSE(element::late) << "with " << inside << " inside";
    EXPECT_EQ(number_of_the_next(), before) << "with " << inside << " inside";
  }
  std::size_t got = 0;
  while (q.get()) ++got;
  EXPECT_EQ(got, inside);
}

}  // namespace
}  // namespace polder::ds
