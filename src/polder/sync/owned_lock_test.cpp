#include <polder/sync/owned_lock.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace polder {
namespace {

void never() { FAIL() << "nobody sleeps"; }

TEST(owned_lock, all_zero_is_free_and_one_word) {
  constinit static owned_lock fresh;
  EXPECT_EQ(0u, fresh.holder());
  EXPECT_EQ(4u, sizeof fresh);
}

TEST(owned_lock, every_arrow_of_its_states) {
  using state = owned_lock::state;
  EXPECT_EQ(state::free, owned_lock::of(0));
  EXPECT_EQ(state::held, owned_lock::of(7));
  EXPECT_EQ(state::held_and_waited_for, owned_lock::of(7 | owned_lock::waited_for));
  EXPECT_TRUE(owned_lock::legal(state::free, state::held));
  EXPECT_TRUE(owned_lock::legal(state::free, state::held_and_waited_for));
  EXPECT_TRUE(owned_lock::legal(state::held, state::free));
  EXPECT_TRUE(owned_lock::legal(state::held, state::held_and_waited_for));
  EXPECT_TRUE(owned_lock::legal(state::held_and_waited_for, state::free));
  EXPECT_FALSE(owned_lock::legal(state::held_and_waited_for, state::held));
  EXPECT_FALSE(owned_lock::legal(state::held, state::held));
  EXPECT_FALSE(owned_lock::legal(state::free, state::free));
}

TEST(owned_lock, tells_its_holder) {
  owned_lock l;
  EXPECT_TRUE(l.try_lock(7));
  EXPECT_EQ(7u, l.holder());
  EXPECT_FALSE(l.try_lock(7));
  EXPECT_FALSE(l.try_lock(8));
  l.unlock(never);
  EXPECT_EQ(0u, l.holder());
}

// Who finds it held sets the bit and sleeps; the holder wakes it; the one that comes then cannot know whether it was the
// only one, so it will wake again.
TEST(owned_lock, a_sleeper_is_woken) {
  owned_lock l;
  int slept = 0, woken = 0;
  const auto wake = [&] { ++woken; };
  ASSERT_TRUE(l.try_lock(1));
  l.lock(2, [&](owned_lock::mark seen) {
    EXPECT_EQ(1 | owned_lock::waited_for, seen);
    EXPECT_EQ(1u, l.holder());
    if (++slept == 3) l.unlock(wake);
  });
  EXPECT_EQ(3, slept);
  EXPECT_EQ(1, woken);
  EXPECT_EQ(2u, l.holder());
  l.unlock(wake);
  EXPECT_EQ(2, woken);
}

TEST(owned_lock, a_child_may_reset_it) {
  owned_lock l;
  ASSERT_TRUE(l.try_lock(5));
  l.reset();
  EXPECT_TRUE(l.try_lock(6));
}

TEST(owned_lock, threads_take_turns) {
  owned_lock l;
  constexpr int each = 20'000;
  int count = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i != each; ++i) {
        l.lock(t, [](owned_lock::mark) { std::this_thread::yield(); });
        ++count;
        l.unlock([] {});
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(4 * each, count);
}

}  // namespace
}  // namespace polder
