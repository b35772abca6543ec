// combining_seats over a sequence whose operations take long: then everybody else finds it locked and asks.
#include <polder/ds/parts/combining_seats.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <polder/ds/parts/sequential_queue.hpp>

namespace polder::ds {
namespace {

struct memory {};

class slow {
  using queue = sequential_queue<long, memory>;

 public:
  using element = queue::element;
  bool put(long& e) noexcept {
    const alone here(*this);
    return of_.put(e);
  }
  std::optional<long> take() noexcept {
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
        long mine = t * each + i;
        ASSERT_TRUE(s.put(mine));
        // There are never more takes than puts.
        const std::optional<long> one = s.take();
        ASSERT_TRUE(one.has_value());
        got[std::size_t(t)].push_back(*one);
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

// Has no memory for every other element, and takes long.
class stingy {
 public:
  using element = std::unique_ptr<long>;
  bool put(element& e) noexcept {
    for (unsigned i = 0; i != 100; ++i) relax();
    if (++operations_ % 8 == 0) sched_yield();
    if (operations_ % 2 == 0) return false;
    of_.push_back(std::move(e));
    return true;
  }
  std::optional<element> take() noexcept {
    if (of_.empty()) return std::nullopt;
    std::optional<element> e(std::move(of_.back()));
    of_.pop_back();
    return e;
  }

 private:
  unsigned operations_ = 0;
  std::vector<element> of_;
};

TEST(combining, who_is_refused_has_its_element_still) {
  combining_seats<stingy> c;
  constexpr long threads = 4, each = 200;
  atomic<long> in{0}, out{0};
  std::vector<std::thread> workers;
  for (long t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      for (long i = 0; i != each; ++i) {
        combining_seats<stingy>::seat s(c);
        const long number = t * each + i;
        std::unique_ptr<long> mine = std::make_unique<long>(number);
        if (s.put(mine)) {
          in.fetch_add(number, order::relaxed);
        } else {
          ASSERT_NE(mine, nullptr);
          ASSERT_EQ(*mine, number);
        }
        if (std::optional<std::unique_ptr<long>> one = s.take()) out.fetch_add(**one, order::relaxed);
      }
    });
  }
  for (std::thread& w : workers) w.join();
  combining_seats<stingy>::seat s(c);
  while (std::optional<std::unique_ptr<long>> one = s.take()) out.fetch_add(**one, order::relaxed);
  EXPECT_EQ(in.load(order::relaxed), out.load(order::relaxed));
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
