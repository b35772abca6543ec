#include <polder/sync/inbox.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace polder {
namespace {

struct block {
  block* next = nullptr;
  int number = 0;
};

void link(block* b, block* next) { b->next = next; }

TEST(inbox, all_zero_and_one_word) {
  constinit static inbox<block> fresh;
  EXPECT_TRUE(fresh.empty());
  EXPECT_EQ(sizeof(void*), sizeof fresh);
}

TEST(inbox, empty_gives_null) {
  inbox<block> in;
  EXPECT_EQ(nullptr, in.take_all());
}

TEST(inbox, the_first_post_finds_it_empty) {
  inbox<block> in;
  block a, b, c;
  EXPECT_TRUE(in.push_list(&a, &a, link));
  EXPECT_FALSE(in.push_list(&b, &b, link));
  EXPECT_FALSE(in.empty());
  EXPECT_EQ(&b, in.take_all());
  EXPECT_TRUE(in.empty());
  EXPECT_TRUE(in.push_list(&c, &c, link));
}

TEST(inbox, lists_come_out_whole_the_last_one_first) {
  inbox<block> in;
  block b[5];
  b[0].next = &b[1];
  b[2].next = &b[3];
  b[3].next = &b[4];
  in.push_list(&b[0], &b[1], link);
  in.push_list(&b[2], &b[4], link);
  block* now = in.take_all();
  for (int expected : {2, 3, 4, 0, 1}) {
    EXPECT_EQ(&b[expected], now);
    now = now->next;
  }
  EXPECT_EQ(nullptr, now);
}

TEST(inbox, the_link_is_written_by_the_caller) {
  inbox<block> in;
  block a, b;
  auto keyed = [](block* of, block* next) {
    of->next = next;
    of->number = 42;
  };
  in.push_list(&a, &a, keyed);
  in.push_list(&b, &b, keyed);
  EXPECT_EQ(42, a.number);
  EXPECT_EQ(&a, b.next);
}

TEST(inbox, what_threads_post_is_taken_once) {
  constexpr int posters = 3, each = 10'000;
  inbox<block> in;
  std::vector<block> blocks(posters * each);
  std::vector<std::thread> threads;
  atomic<int> running{posters};
  for (int p = 0; p != posters; ++p) {
    threads.emplace_back([&, p] {
      for (int i = 0; i != each; i += 2) {
        block* const first = &blocks[std::size_t(p * each + i)];
        first[0].next = &first[1];
        in.push_list(&first[0], &first[1], link);
      }
      running.fetch_sub(1, order::release);
    });
  }
  int taken = 0;
  for (bool more = true; more;) {
    more = running.load(order::acquire) != 0;
    for (block* b = in.take_all(); b != nullptr; b = b->next, ++taken) ++b->number;
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(posters * each, taken);
  for (const block& b : blocks) ASSERT_EQ(1, b.number);
}

}  // namespace
}  // namespace polder
