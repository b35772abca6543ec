// A moment that came after another on a different processor has no smaller number.
#include "checker/clock.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "checker/history.hpp"

namespace polder::checker {
namespace {

// Two threads hand each other the moment at which they ended.
template <class Clock>
void hand_to_and_fro(Clock& clock) {
  constexpr unsigned rounds = 200;
  atomic<unsigned> turn{0};
  std::uint64_t ended = 0;
  unsigned backwards = 0;
  const auto play = [&](unsigned mine) {
    for (unsigned i = mine; i < 2 * rounds; i += 2) {
      while (turn.load(order::acquire) != i) std::this_thread::yield();
      backwards += clock.begin() < ended;
      ended = clock.end();
      turn.store(i + 1, order::release);
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(backwards, 0u) << Clock::name;
}

TEST(clock, the_counter_never_runs_backwards) {
  counter c;
  hand_to_and_fro(c);
  const std::uint64_t ended = c.end();
  EXPECT_LT(ended, c.begin());
}

// Of one thread alone: whether processors agree is chance on some machines (ticks::agree).
TEST(clock, ticks_do_not_run_backwards_in_a_thread) {
  std::thread([] {
    if (!bind_to(::sched_getcpu())) return;
    ticks t;
    for (int i = 0; i != 1000; ++i) {
      const std::uint64_t ended = t.end();
      ASSERT_LE(ended, t.begin());
    }
  }).join();
}

struct one_place {
  std::optional<std::uint64_t> inside;
  bool put(std::uint64_t v) { return inside ? false : (inside = v, true); }
  std::optional<std::uint64_t> get() { return std::exchange(inside, std::nullopt); }
};

TEST(recorded, what_was_done_in_its_order) {
  one_place c;
  counter clock;
  recorded<one_place, counter> r(c, clock, 4);
  EXPECT_FALSE(r.get().has_value());
  EXPECT_TRUE(r.put(value_of(3, 7)));
  EXPECT_FALSE(r.put(value_of(3, 8)));  // refused: no event
  EXPECT_EQ(r.get(), value_of(3, 7));
  const std::vector<event> done = r.take();
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[0].what, call::empty);
  EXPECT_EQ(done[1].what, call::put);
  EXPECT_EQ(done[2].what, call::get);
  EXPECT_EQ(done[2].value, value_of(3, 7));
  for (std::size_t i = 0; i != 3; ++i) {
    EXPECT_LE(done[i].from, done[i].to);
    if (i != 0) {
      EXPECT_LT(done[i - 1].to, done[i].from);
    }
  }
}

}  // namespace
}  // namespace polder::checker
