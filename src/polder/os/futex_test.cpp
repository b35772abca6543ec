#include <polder/os/futex.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <thread>
#include <vector>

#include <polder/os/forked_test.hpp>

namespace polder::os {
namespace {

TEST(futex, does_not_sleep_on_another_value) {
  const std::uint32_t word = 3;
  errno = 77;
  sleep_on(&word, 4);
  EXPECT_EQ(77, errno);
  wake_one(&word);
  EXPECT_EQ(77, errno);
}

TEST(futex, sleeps_until_a_time_or_not_at_all) {
  const std::uint32_t word = 3;
  errno = 77;
  EXPECT_FALSE(sleep_on_until(&word, 3, 1));  // long ago
  EXPECT_TRUE(sleep_on_until(&word, 4, std::int64_t{1} << 62));
  wake_all(&word);
  EXPECT_EQ(77, errno);
}

TEST(futex, a_lock_that_threads_sleep_on) {
  owned_lock l;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2'000; ++i) {
        const holding h(l);
        const int before = count;
        if (i % 100 == 0) std::this_thread::yield();  // others come and find it held
        count = before + 1;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(16'000, count);
  EXPECT_EQ(0u, l.holder());
}

TEST(futex, threads_have_marks_of_their_own_and_keep_them_in_a_child) {
  owned_lock guard;
  std::set<owned_lock::mark> marks;
  std::vector<std::thread> threads;
  atomic<int> here{0};
  constexpr int many = 16;
  for (int t = 0; t < many; ++t)
    threads.emplace_back([&] {
      {
        const holding h(guard);
        marks.insert(thread_mark());
      }
      here.fetch_add(1, order::relaxed);
      while (here.load(order::relaxed) != many) std::this_thread::yield();
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(std::size_t{many}, marks.size());
  const owned_lock::mark mine = thread_mark();
  EXPECT_EQ(fine, forked([&] { return thread_mark() == mine ? 0 : 1; }));
}

}  // namespace
}  // namespace polder::os
