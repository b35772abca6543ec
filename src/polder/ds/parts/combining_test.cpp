// combining_seats over a sequence whose operations take long: then everybody else finds it locked and asks.
#include <polder/ds/parts/combining_seats.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include <polder/ds/parts/sequential_queue.hpp>

namespace polder::ds {
namespace {

struct memory {};

class slow {
  using queue = sequential_queue<long, memory>;

 public:
  using node = queue::node;
  void put(node* n) noexcept {
    const alone here(*this);
    of_.put(n);
  }
  node* take() noexcept {
    const alone here(*this);
    return of_.take();
  }
  static inline atomic<long> torn{0};

 private:
  struct alone {
    slow& s;
    explicit alone(slow& of) : s(of) {
      torn.fetch_add(s.inside_.exchange(1, order::relaxed), order::relaxed);
      if (++s.operations_ % 32 == 0) sched_yield();  // which takes milliseconds where others are at work
      else
        for (unsigned i = 0; i != 100; ++i) relax();
    }
    ~alone() { torn.fetch_add(1 - s.inside_.exchange(0, order::relaxed), order::relaxed); }
  };
  atomic<long> inside_{0};
  unsigned operations_ = 0;
  queue of_;
};

// Each puts and takes; of each, what it put comes out once, and to one thread in order.
void all_come_out(combining_seats<slow>& c, long threads, long each) {
  std::vector<std::vector<long>> got(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (long t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      for (long i = 0; i != each; ++i) {
        combining_seats<slow>::seat s(c);
        s.put(new slow::node(t * each + i));
        // There are never more takes than puts.
        slow::node* const n = s.take();
        ASSERT_NE(n, nullptr);
        got[std::size_t(t)].push_back(n->element.take());
        delete n;
      }
    });
  }
  for (std::thread& w : workers) w.join();
  std::vector<long> all;
  for (const std::vector<long>& g : got) {
    std::vector<long> last(std::size_t(threads), -1);
    for (const long n : g) {
      long& before = last[std::size_t(n / each)];
      ASSERT_LT(before, n);
      before = n;
    }
    all.insert(all.end(), g.begin(), g.end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), std::size_t(threads * each));
  for (long n = 0; n != threads * each; ++n) ASSERT_EQ(all[std::size_t(n)], n);
  ASSERT_EQ(slow::torn.load(order::relaxed), 0);
}

TEST(combining, one_at_a_time_and_each_gets_its_answer) {
  combining_seats<slow> c;
  all_come_out(c, 4, 200);
}

TEST(combining, more_threads_than_processors) {
  combining_seats<slow> c;
  all_come_out(c, 32, 20);
}

// A record is taken out when its thread has not asked for long, and comes back with the thread or the number's next one.
TEST(combining, who_asks_again_after_a_long_time_is_answered) {
  combining_seats<slow> c;
  for (unsigned round = 0; round != 3; ++round) {
    all_come_out(c, 3, 50);
    all_come_out(c, 1, 300);
  }
}

}  // namespace
}  // namespace polder::ds
