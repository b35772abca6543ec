// LABs among threads: remote frees, ended threads, claimed LABs, and who may share a cache line.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/clock.hpp>
#include <polder/os/ended_thread_test.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/processors.hpp>
#include <polder/os/thread_name.hpp>

namespace polder::heap {
namespace {

using blocks = std::vector<void*>;

constexpr std::size_t size = 256;
constexpr unsigned per_span = unsigned(mem::grain_size / size);

// Two threads take turns, without a sanitizer or a scheduler having a say in it.
class turns {
 public:
  void wait_for(int turn) {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] { return turn_ >= turn; });
  }
  void arrive() {
    {
      const std::lock_guard hold(mutex_);
      ++turn_;
    }
    changed_.notify_all();
  }
  void reach(int turn) {
    {
      const std::lock_guard hold(mutex_);
      turn_ = turn;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
};

// ---- remote frees ----------------------------------------------------------------------------------------------------

TEST(remote_free, reaches_the_owner_who_allocates_from_it_again) {
  served h;
  blocks held;
  for (unsigned i = 0; i != 4 * per_span; ++i) held.push_back(h.allocate(size));
  const std::uint64_t spans = h.now().spans;
  h.in_a_thread([&] {
    for (void* p : held) h.free(p);
  });
  EXPECT_EQ(4 * per_span, h.now().remote_frees);
  EXPECT_GE(h.now().posts, 1u);  // in lists
  EXPECT_LE(h.now().posts, 4 * per_span / 2);
  std::set<void*> again;
  for (unsigned i = 0; i != 4 * per_span; ++i) again.insert(h.allocate(size));
  EXPECT_EQ(std::set<void*>(held.begin(), held.end()), again);
  EXPECT_LE(h.now().spans, spans);
}

TEST(remote_free, of_all_blocks_empties_the_spans_when_the_owner_looks) {
  served h;
  blocks held;
  for (unsigned i = 0; i != 4 * per_span; ++i) held.push_back(h.allocate(size));
  h.in_a_thread([&] {
    for (void* p : held) h.free(p);
  });
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().spans);
  EXPECT_EQ(0u, h.now().allocated);
}

TEST(remote_free, of_a_batch_among_whose_blocks_are_all_kinds) {
  served h;
  blocks held(4 * per_span);
  for (void*& p : held) p = h.allocate(size);
  for (const std::size_t n : {200 * KiB, 40 * MiB}) held.push_back(h.allocate(n));
  held.insert(held.begin() + per_span, nullptr);
  h.in_a_thread([&] {
    for (unsigned i = 0; i != per_span; ++i) held.insert(held.begin() + i, h.allocate(size));
    h.heap.deallocate_batch(held.data(), held.size());
    EXPECT_EQ(4 * per_span, h.now().remote_frees);
    EXPECT_GE(h.now().posts, 1u);  // in lists
    EXPECT_LE(h.now().posts, 4 * per_span / 2);
  });
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().spans);
  EXPECT_EQ(0u, h.now().allocated);
  h.validate();
}

TEST(remote_free, waits_in_the_outbox_until_it_is_worth_the_way) {
  served h;
  blocks held(std::min(std::size_t{outbox::max_blocks}, outbox::max_bytes / size));
  for (void*& p : held) p = h.allocate(size);
  turns t;
  std::thread other = h.thread([&] {
    for (void* p : held) {
      EXPECT_EQ(p == held.front(), h.own().out.empty());
      h.free(p);
    }
    EXPECT_TRUE(h.own().out.empty());
    t.reach(1);
    t.wait_for(2);
  });
  t.wait_for(1);
  EXPECT_FALSE(h.own().in.empty());
  t.reach(2);
  other.join();
}

TEST(remote_free, leaves_with_a_refill_in_the_next_step_of_decay) {
  served h({.arena_size = GiB, .decay_ms = 2});
  void* const p = h.allocate(size);
  h.in_a_thread([&] {
    h.free(p);
    EXPECT_FALSE(h.own().out.empty());
    while (!h.own().out.empty()) h.free(h.allocate(1000)), h.allocate(1000);
  });
}

TEST(remote_free, to_a_lab_without_a_thread_is_drained_by_who_posts) {
  served h;
  blocks held(per_span);
  h.in_a_thread([&] {
    for (void*& p : held) p = h.allocate(size);
  });
  EXPECT_EQ(per_span * size, h.now().allocated);
  h.allocate(16);  // so that this thread has a LAB; not of that size class
  for (void* p : held) h.free(p);
  h.heap.trim(0);
  EXPECT_EQ(16u, h.now().allocated);
  EXPECT_EQ(1u, h.now().spans);
}

TEST(remote_free, finds_the_new_owner_when_the_span_has_changed_hands_on_the_way) {
  served h;
  h.allocate(16);
  turns t;
  lab* heir = nullptr;
  blocks held(per_span);  // a full span: who puts a block back lists it
  std::thread adopter = h.thread([&] {
    h.allocate(16);  // has a LAB before there is one without a thread
    heir = &h.own();
    t.reach(1);
    t.wait_for(2);
    h.allocate(size);  // adopts the span, and takes its only free block
    h.allocate(size);  // from a fresh one: the other is full
    t.reach(3);
    t.wait_for(4);
    bool came = false;
    for (unsigned i = 0; i != per_span; ++i) came = came || h.allocate(size) == held[0];
    EXPECT_TRUE(came);
    t.reach(5);
  });
  t.wait_for(1);
  mem::lab_number former = 0;
  h.in_a_thread([&] {
    for (void*& p : held) p = h.allocate(size);
    h.free(held.back());
    held.pop_back();
    former = h.own().number;
  });
  ASSERT_EQ(former, h.owner_of(held[0]));
  h.free(held[0]);  // in the outbox, for the LAB that is without a thread
  ASSERT_FALSE(h.own().out.empty());
  t.reach(2);
  t.wait_for(3);
  ASSERT_EQ(heir->number, h.owner_of(held[0]));
  ASSERT_NE(former, heir->number);
  ASSERT_TRUE(mem::word::is_full(h.word_of(held[0])));
  h.heap.leave_thread();  // which sends it
  h.allocate(16);
  EXPECT_TRUE(mem::word::is_full(h.word_of(held[0])));  // only the heir may touch its span
  EXPECT_FALSE(heir->in.empty());
  t.reach(4);
  t.wait_for(5);
  adopter.join();
}

TEST(remote_free, who_only_frees_learns_how_far_the_arena_is_open) {
  served h;
  void* const early = h.allocate(64);
  h.in_a_thread([&] {
    h.free(early);
    const std::size_t known = h.own().opened;
    void* late = nullptr;
    h.in_a_thread([&] {
      do late = h.allocate(32 * KiB);
      while (h.own().grain_of(late) < known);
    });
    h.free(late);
    EXPECT_LT(h.own().grain_of(late), h.own().opened);
  });
}

TEST(remote_free, many_to_many_and_nothing_is_lost) {
  served h;
  constexpr unsigned threads = 4, rounds = 40, each = 500;
  std::mutex mutex;
  std::vector<std::pair<unsigned char*, std::size_t>> pot;
  std::vector<std::thread> crew;
  for (unsigned t = 0; t != threads; ++t)
    crew.push_back(h.thread([&, t] {
      std::minstd_rand random(t + 1);
      for (unsigned round = 0; round != rounds; ++round) {
        std::vector<std::pair<unsigned char*, std::size_t>> mine;
        for (unsigned i = 0; i != each; ++i) {
          const std::size_t n = 16 + random() % (i % 50 == 0 ? 100'000 : 1'000);
          auto* const p = static_cast<unsigned char*>(h.allocate(n));
          std::memset(p, int(n), n);
          mine.push_back({p, n});
        }
        {
          const std::lock_guard hold(mutex);
          pot.insert(pot.end(), mine.begin(), mine.end());
          mine.clear();
          for (unsigned i = 0; i != each; ++i) {
            std::swap(pot[random() % pot.size()], pot.back());
            mine.push_back(pot.back());
            pot.pop_back();
          }
        }
        for (const auto& [p, n] : mine) {
          EXPECT_EQ((unsigned char)(n), p[0]);
          EXPECT_EQ((unsigned char)(n), p[n - 1]);
          h.free(p);
        }
      }
    }));
  for (auto& t : crew) t.join();
  EXPECT_TRUE(pot.empty());
  EXPECT_EQ(0u, h.now().allocated);
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().active);
}

// Takes and frees some spans of blocks of twice the size until enough() says so, for a minute at most: decay takes its steps. Whether
// it was.
template <class F>
bool works_until(served& h, F enough) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!enough() && std::chrono::steady_clock::now() < until) {
    blocks some;
    for (unsigned i = 0; i != 2 * per_span; ++i) some.push_back(h.allocate(2 * size));
    for (void* p : some) h.free(p);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return enough();
}

// ---- threads that end ------------------------------------------------------------------------------------------------

TEST(ended_thread, its_lab_is_the_next_threads) {
  served h;
  for (int i = 0; i != 50; ++i) h.in_a_thread([&] { h.free(h.allocate(size)); });
  EXPECT_EQ(1u, h.now().labs);
  EXPECT_EQ(0u, h.now().threads);
  EXPECT_EQ(1u, h.now().spans);
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().spans);
}

TEST(ended_thread, its_hot_spans_serve_the_next_at_once) {
  served h;
  const auto of_every_class = [&] {
    blocks some;
    for (unsigned c = 1; c <= classes::count; ++c) some.push_back(h.allocate(classes::block_size[c]));
    for (void* p : some) h.free(p);
  };
  h.in_a_thread(of_every_class);
  const std::uint64_t spans = h.now().spans, refills = h.now().refills;
  EXPECT_EQ(classes::count, spans);
  h.in_a_thread(of_every_class);
  EXPECT_EQ(spans, h.now().spans);
  EXPECT_EQ(refills, h.now().refills);
  EXPECT_EQ(1u, h.now().labs);
}

TEST(ended_thread, leaves_nothing_to_decay_where_there_is_none) {
  served h({.arena_size = GiB, .decay_ms = 0});
  h.in_a_thread([&] { h.free(h.allocate(size)); });
  EXPECT_EQ(0u, h.now().spans);
}

TEST(ended_thread, its_hot_spans_go_with_a_step_of_decay) {
  served h({.arena_size = GiB, .decay_ms = 2});
  h.allocate(16);
  h.in_a_thread([&] {
    for (unsigned c = 2; c <= classes::count; ++c) h.free(h.allocate(classes::block_size[c]));
  });
  EXPECT_TRUE(works_until(h, [&] { return h.now().spans <= 4; }));
}

// Of large blocks the first that comes home makes its span a hot one, which stays when it runs empty, until somebody sweeps.
TEST(ended_thread, spans_to_which_its_large_blocks_come_home_later_go_with_a_step_of_decay) {
  served h({.arena_size = GiB, .decay_ms = 2});
  h.allocate(16);
  blocks held(24);
  lab* left = nullptr;
  h.in_a_thread([&] {
    for (void*& p : held) p = h.allocate(8 * KiB);
    left = &h.own();
  });
  ASSERT_TRUE(works_until(h, [&] { return left->swept.load(order::relaxed) == 1; }));
  for (void* p : held) h.free(p);
  EXPECT_TRUE(works_until(h, [&] { return left->owned_count == 0; }));
}

// What it had in hand is offered as well, and what of it is empty goes to whoever looks.
TEST(ended_thread, an_empty_hot_span_of_its_goes_to_the_pool_when_its_class_is_wanted) {
  served h;
  h.allocate(16);
  void* p = nullptr;
  h.in_a_thread([&] { h.free(p = h.allocate(size)); });
  const mem::grain g = h.grain_of(p);
  EXPECT_EQ(2u, h.now().spans);
  EXPECT_EQ(g, h.grain_of(h.allocate(size)));
  EXPECT_EQ(2u, h.now().spans);
  EXPECT_EQ(h.own().number, h.owner_of(p));
}

TEST(ended_thread, its_spans_are_adopted_before_fresh_ones_are_taken) {
  served h;
  h.allocate(16);
  blocks held(2 * per_span);
  h.in_a_thread([&] {
    for (void*& p : held) p = h.allocate(size);
    for (std::size_t i = 0; i < held.size(); i += 2) h.free(held[i]);
  });
  const std::uint64_t spans = h.now().spans;
  const mem::lab_number former = h.owner_of(held[1]);
  ASSERT_NE(former, h.own().number);
  std::set<void*> freed;
  for (std::size_t i = 0; i < held.size(); i += 2) freed.insert(held[i]);
  for (std::size_t i = 0; i < held.size(); i += 2) EXPECT_EQ(1u, freed.erase(h.allocate(size)));
  EXPECT_EQ(spans, h.now().spans);
  EXPECT_EQ(h.own().number, h.owner_of(held[1]));
  // Its blocks are this thread's own now.
  const std::uint64_t remote = h.now().remote_frees;
  for (std::size_t i = 1; i < held.size(); i += 2) h.free(held[i]);
  EXPECT_EQ(remote, h.now().remote_frees);
}

TEST(ended_thread, no_more_of_its_spans_are_adopted_than_are_needed) {
  served h;
  h.allocate(16);
  h.in_a_thread([&] {
    for (const std::size_t n : {size, 2 * size, 4 * size}) h.allocate(n);
  });
  const std::uint64_t spans = h.now().spans;
  h.allocate(2 * size);
  EXPECT_EQ(2u, h.own().owned_count);
  EXPECT_EQ(spans, h.now().spans);
  h.in_a_thread([&] {
    h.allocate(size);
    EXPECT_EQ(2u, h.own().owned_count);  // it found them in its LAB
    h.allocate(4 * size);
  });
  EXPECT_EQ(spans, h.now().spans);
}

TEST(ended_thread, spans_of_every_class_are_adopted) {
  served h;
  h.allocate(16);
  h.in_a_thread([&] {
    for (unsigned c = 1; c <= classes::count; ++c) h.allocate(classes::block_size[c]);
  });
  const std::uint64_t spans = h.now().spans;
  for (unsigned c = 2; c <= classes::count; ++c) h.allocate(classes::block_size[c]);
  EXPECT_EQ(spans, h.now().spans);
}

// Somebody stopped while it drained the LAB that lies on top, or was killed there.
TEST(ended_thread, those_below_one_that_stays_drained_are_found) {
  served h;
  h.allocate(16);
  lab* below = nullptr;
  lab* on_top = nullptr;
  turns t;
  std::thread first = h.thread([&] {
    void* const p = h.allocate(size);
    below = &h.own();
    t.reach(1);
    t.wait_for(2);
    static_cast<void>(p);  // it keeps the LAB's span
  });
  t.wait_for(1);
  std::thread second = h.thread([&] {
    h.allocate(2 * size);
    on_top = &h.own();
    t.reach(2);
    t.wait_for(3);
  });
  first.join();
  t.reach(3);
  second.join();
  ASSERT_NE(below, on_top);
  ASSERT_TRUE(on_top->door.try_drain());
  for (int i = 0; i != 3; ++i) {
    h.in_a_thread([&] {
      h.allocate(4 * size);
      EXPECT_EQ(below, &h.own());
    });
    EXPECT_EQ(3u, h.now().labs);
  }
  h.allocate(size);  // adopts the one span that it has use for
  EXPECT_EQ(1u, below->owned_count);
  EXPECT_EQ(1u, on_top->owned_count);
  EXPECT_EQ(0u, std::uint64_t{below->offered.load(order::relaxed)} & class_bit(mem::size_class::stepped::of(size)));
}

TEST(ended_thread, what_it_left_can_be_freed_by_anybody) {
  served h;
  blocks held;
  std::mutex mutex;
  for (int round = 0; round != 20; ++round) {
    std::vector<std::thread> crew;
    for (int t = 0; t != 4; ++t)
      crew.push_back(h.thread([&] {
        for (int i = 0; i != 200; ++i) {
          void* const p = h.allocate(16 + i);
          void* other = nullptr;
          {
            const std::lock_guard hold(mutex);
            held.push_back(p);
            if (held.size() > 300) {
              other = held[held.size() / 2];
              held[held.size() / 2] = held.back();
              held.pop_back();
            }
          }
          h.free(other);
        }
      }));
    for (auto& t : crew) t.join();
  }
  EXPECT_LE(h.now().labs, 8u);
  for (void* p : held) h.free(p);
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().allocated);
}

TEST(ended_thread, leaves_twice_and_comes_back) {
  served h;
  h.heap.leave_thread();
  void* const p = h.allocate(size);
  h.heap.leave_thread();
  h.heap.leave_thread();
  EXPECT_EQ(0u, h.now().threads);
  h.free(p);
  EXPECT_EQ(p, h.allocate(size));
}

TEST(ended_thread, after_its_end_it_borrows_for_one_operation) {
  served h;
  h.in_a_thread([&] {
    void* const own = h.allocate(size);
    h.heap.leave_thread();
    test_host::gone = true;
    void* const p = h.allocate(size);
    ASSERT_NE(nullptr, p);
    void* const large = h.allocate(MiB);
    void* const huge = h.allocate(40 * MiB);
    EXPECT_EQ(&test_host::nobody<lab>, &h.own());
    EXPECT_EQ(0u, h.now().threads);
    for (void* q : {p, own, large, huge}) h.free(q);
    EXPECT_EQ(&test_host::nobody<lab>, &h.own());
  });
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_LE(h.now().labs, 2u);
}

TEST(ended_thread, leaves_the_lab_it_would_borrow_to_who_claims_it_first) {
  served h;
  h.allocate(16);
  lab& mine = h.own();
  h.in_a_thread([&] {
    test_host::gone = true;
    static lab* claimed;
    test_host::on_borrowing<lab> = [](lab& l) {
      claimed = &l;
      EXPECT_EQ(claim::held, l.door.try_claim([] { return true; }));
    };
    void* const p = h.allocate(size);
    ASSERT_NE(nullptr, p);
    EXPECT_NE(
        claimed->number,
        mem::word::owner(mine.words[(address(p) - address(mine.base)) >> mem::grain_shift].load(order::relaxed)));
    EXPECT_EQ(0u, claimed->owned_count);  // nobody was in it but the claimer
    EXPECT_FALSE(claimed->door.end_claim());
    claimed->door.settle([] { return false; }, [] {});
    h.free(p);
    // A claim that is over in time leaves it.
    test_host::on_borrowing<lab> = [](lab& l) {
      EXPECT_EQ(claim::held, l.door.try_claim([] { return true; }));
      EXPECT_TRUE(l.door.end_claim());
    };
    h.free(h.allocate(size));
    EXPECT_EQ(nullptr, test_host::on_borrowing<lab>);
  });
  h.heap.trim(0);
  EXPECT_EQ(16u, h.now().allocated);
}

TEST(ended_thread, where_nobody_watches_for_it_every_operation_borrows) {
  served h;
  test_host::watched = false;
  h.in_a_thread([&] {
    blocks held;
    for (int i = 0; i != 1'000; ++i) held.push_back(h.allocate(size));
    for (void* p : held) h.free(p);
  });
  test_host::watched = true;
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_EQ(1u, h.now().labs);
  EXPECT_EQ(0u, h.now().threads);
}

// ---- LABs of threads that do something else ----------------------------------------------------------------------------

class idle_thread : public testing::Test {
 protected:
  void SetUp() override {
    if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  }
  // A thread that has made the blocks of so many spans, and sleeps until the second turn.
  std::thread asleep_with(unsigned spans, served& h, blocks& made) {
    std::thread other = h.thread([this, spans, &h, &made] {
      for (unsigned i = 0; i != spans * per_span; ++i) made.push_back(h.allocate(size));
      t.reach(1);
      t.wait_for(2);
    });
    t.wait_for(1);
    return other;
  }
  // Twice as many threads as there are processors, each with a block, and the caller: whoever comes then is one of a crowd.
  std::vector<std::thread> asleep_in_a_crowd(served& h) {
    std::vector<std::thread> all;
    h.allocate(16);
    for (unsigned i = 0; i != 2 * os::processors(); ++i)
      all.push_back(h.thread([this, &h] {
        h.allocate(16);
        there.arrive();
        t.wait_for(2);
      }));
    there.wait_for(int(all.size()));
    return all;
  }
  turns t, there;
};

TEST_F(idle_thread, gives_up_what_it_does_not_use_and_does_not_notice) {
  served h;
  void* const mine = h.allocate(48);
  void* theirs = nullptr;
  std::thread other = h.thread([&] {
    for (std::size_t n = 16; n <= 32 * KiB; n *= 2) h.free(h.allocate(n));  // hot spans without a block in use
    theirs = h.allocate(100);
    h.free(mine);  // in its outbox
    t.reach(1);
    t.wait_for(2);
    const mem::lab_number number = h.own().number;
    h.free(theirs);
    void* const again = h.allocate(2000);
    EXPECT_NE(nullptr, again);
    EXPECT_EQ(number, h.own().number);  // the claim is over: the LAB is its own again
    h.free(again);
    t.reach(3);
  });
  t.wait_for(1);
  EXPECT_GE(h.now().spans, 10u);
  h.heap.trim(0);
  h.heap.trim(0);                // what came home in the first
  EXPECT_EQ(1u, h.now().spans);  // theirs
  EXPECT_EQ(112u, h.now().allocated);
  t.reach(2);
  t.wait_for(3);
  other.join();
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().allocated);
  EXPECT_EQ(0u, h.now().spans);
}

TEST_F(idle_thread, is_swept_by_decay_alone_as_long_as_somebody_allocates) {
  served h({.arena_size = GiB, .decay_ms = 2});
  std::thread other = h.thread([&] {
    for (std::size_t n = 16; n <= 32 * KiB; n *= 2) h.free(h.allocate(n));
    t.reach(1);
    t.wait_for(2);
  });
  t.wait_for(1);
  EXPECT_TRUE(works_until(h, [&] { return h.now().spans <= 2; }));
  t.reach(2);
  other.join();
}

TEST_F(idle_thread, what_came_for_it_before_a_fork_is_taken_in_by_decay_in_the_child) {
  served h({.arena_size = GiB, .decay_ms = 2, .background = false});
  blocks held(per_span);
  lab* theirs = nullptr;
  std::thread other = h.thread([&] {
    for (void*& p : held) p = h.allocate(size);
    theirs = &h.own();
    t.reach(1);
    t.wait_for(2);
  });
  t.wait_for(1);
  EXPECT_TRUE(works_until(h, [&] { return theirs->swept.load(order::relaxed) == 1; }));
  for (void* p : held) h.free(p);
  EXPECT_FALSE(theirs->in.empty());
  EXPECT_EQ(os::fine, os::forked([&] {
              h.heap.after_fork_child();
              return works_until(h, [&] { return theirs->in.empty() && theirs->owned_count == 0; }) ? 0 : 1;
            }));
  t.reach(2);
  other.join();
}

TEST_F(idle_thread, whose_inbox_overflows_is_emptied_by_who_posts) {
  served h;
  blocks held;
  std::thread other = asleep_with(20, h, held);
  ASSERT_GE(h.now().spans, 20u);
  for (void* p : held) h.free(p);  // 1.3 MiB
  EXPECT_LE(h.now().spans, 12u);
  h.heap.trim(0);
  t.reach(2);
  other.join();
  EXPECT_EQ(0u, h.now().allocated);
}

TEST_F(idle_thread, among_more_than_there_are_processors_is_left_alone_for_longer) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  blocks held;
  std::thread other = asleep_with(20, h, held);
  const std::uint64_t spans = h.now().spans;
  for (unsigned i = 0; i != 8 * per_span; ++i) h.free(held[i]);  // 512 KiB
  EXPECT_EQ(spans, h.now().spans);
  for (unsigned i = 8 * per_span; i != held.size(); ++i) h.free(held[i]);  // 1.3 MiB
  EXPECT_LE(h.now().spans, spans - 12);
  t.reach(2);
  other.join();
  for (auto& thread : crowd) thread.join();
}

TEST_F(idle_thread, of_a_crowd_left_the_first_empty_span_of_each_class_to_who_came_next) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  const std::uint64_t spans = h.now().spans;
  h.in_a_thread([&] {
    for (int round = 0; round != 2; ++round) {
      void* const p = h.allocate(size);
      void* const q = h.allocate(size);
      const mem::grain first = h.grain_of(p);
      h.free(p);
      EXPECT_EQ(spans + 1, h.now().spans);
      EXPECT_EQ(size, h.now().allocated - 16 * (crowd.size() + 1));
      h.free(q);
      EXPECT_EQ(spans, h.now().spans);
      void* const other = h.allocate(2 * size);
      EXPECT_EQ(first, h.grain_of(other)) << "a grain whose pages are there, for any class";
      // Who wants the class again keeps its span, until it is swept.
      h.free(h.allocate(size));
      EXPECT_EQ(spans + 2, h.now().spans);
      h.free(other);
      EXPECT_EQ(spans + 1, h.now().spans);
      h.heap.trim(0);
      EXPECT_EQ(spans, h.now().spans);
    }
  });
  t.reach(2);
  for (auto& thread : crowd) thread.join();
}

TEST_F(idle_thread, of_a_crowd_that_worked_at_random_left_everything_in_order) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  const std::uint64_t theirs = h.now().allocated;
  h.in_a_thread([&] {
    std::minstd_rand random(5);
    blocks held;
    for (int round = 0; round != 50; ++round) {
      const std::size_t largest = round % 2 == 0 ? 300 : 30'000;
      for (int n = 0; n != 400; ++n) {
        if (random() % 3 != 0 || held.empty()) {
          held.push_back(h.allocate(random() % largest));
        } else {
          std::swap(held[random() % held.size()], held.back());
          h.free(held.back());
          held.pop_back();
        }
      }
      if (round % 5 == 4) {  // some by another thread
        h.in_a_thread([&] {
          for (std::size_t n = held.size() / 2; n != 0; --n) h.free(held.back()), held.pop_back();
        });
      }
      if (round % 3 != 0) {
        while (!held.empty()) h.free(held.back()), held.pop_back();
        EXPECT_EQ(theirs, h.now().allocated);
      }
      if (round % 8 == 7) h.heap.trim(0);
#if POLDER_CHECK_LEVEL >= 2
      h.heap.validate();
#endif
    }
    for (void* p : held) h.free(p);
  });
  EXPECT_EQ(theirs, h.now().allocated);
  t.reach(2);
  for (auto& thread : crowd) thread.join();
}

// A thread of a crowd frees some 14 KB in blocks of two owners, which wait in its outbox, and allocates as many.
class thread_of_a_crowd : public idle_thread {
 protected:
  // How many blocks of others it had back, of n bytes freed and `wanted` allocated.
  unsigned blocks_back(served& h, std::size_t n, std::size_t wanted, bool profiled = false) {
    const unsigned some = std::min(unsigned(7'500 / n), outbox::max_blocks - 4);  // of each: less than a list
    blocks theirs;
    for (unsigned i = 0; i != some; ++i) theirs.push_back(h.allocate(n));
    std::thread other = h.thread([&] {
      for (unsigned i = 0; i != some; ++i) theirs.push_back(h.allocate(n));
      first.arrive();
      t.wait_for(2);
    });
    first.wait_for(1);
    unsigned back = 0;
    h.in_a_thread([&] {
      if (profiled) {
        EXPECT_EQ(profiling::done, h.heap.start_profile(1 << 30));
      }
      for (void* p : theirs) h.free(p);
      before_any();
      blocks mine;
      for (unsigned i = 0; i != 2 * some; ++i) {
        if (i == 16) after_some();
        mine.push_back(h.allocate(wanted));
        std::memset(mine.back(), 7, wanted);
        back += h.owner_of(mine.back()) != h.own().number;
#if POLDER_CHECK_LEVEL >= 2
        if (i % 16 == 0) h.heap.validate();
#endif
      }
      const std::set<void*> different(mine.begin(), mine.end());
      EXPECT_EQ(mine.size(), different.size());
      for (void* p : mine) h.free(p);
      if (profiled) h.heap.stop_profile();
    });
    t.reach(2);
    other.join();
    return back;
  }
  turns first;
  std::function<void()> before_any = [] {}, after_some = [] {};  // of what it allocates
};

TEST_F(thread_of_a_crowd, has_blocks_of_several_owners_back_before_they_go_home) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  const unsigned back = blocks_back(h, 240, 240);
  EXPECT_TRUE(back > 20 && back <= 31) << back;  // what was held beyond outbox::mixed_from
  for (auto& thread : crowd) thread.join();
}

TEST_F(thread_of_a_crowd, empties_its_inbox_while_it_has_blocks_back) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  bool waited = false, waits = true;
  before_any = [&] {
    void* const own = h.allocate(16);
    h.in_a_thread([&] { h.free(own); });
    waited = !h.own().in.empty();
  };
  after_some = [&] { waits = !h.own().in.empty(); };
  const unsigned back = blocks_back(h, 240, 240);
  EXPECT_GT(back, 16u);
  EXPECT_TRUE(waited);
  EXPECT_FALSE(waits);
  for (auto& thread : crowd) thread.join();
}

// A block that it had back was freed elsewhere all the same.
TEST_F(thread_of_a_crowd, counts_what_it_had_back_as_freed_and_not_as_waiting) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  statistics before, after;
  before_any = [&] { before = h.now(); };
  after_some = [&] { after = h.now(); };
  const unsigned back = blocks_back(h, 240, 240);
  EXPECT_GT(back, 16u);
  EXPECT_LE(before.remote_frees, after.remote_frees);
  EXPECT_LT(after.waiting, before.waiting);
  EXPECT_EQ(before.allocated + before.waiting, after.allocated + after.waiting);
  for (auto& thread : crowd) thread.join();
}

TEST_F(thread_of_a_crowd, has_no_small_blocks_back) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  EXPECT_EQ(0u, blocks_back(h, 112, 112));
  for (auto& thread : crowd) thread.join();
}

TEST_F(thread_of_a_crowd, has_no_blocks_of_another_class_back) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  EXPECT_EQ(0u, blocks_back(h, 240, 256));
  for (auto& thread : crowd) thread.join();
}

TEST_F(thread_of_a_crowd, has_none_back_where_the_profile_is_on) {
  served h;
  std::vector<std::thread> crowd = asleep_in_a_crowd(h);
  EXPECT_EQ(0u, blocks_back(h, 240, 240, true));
  for (auto& thread : crowd) thread.join();
}

TEST_F(thread_of_a_crowd, is_who_has_them_back) {
  if (os::processors() < 2) GTEST_SKIP() << "three threads are a crowd";
  served h;
  EXPECT_EQ(0u, blocks_back(h, 240, 240));
}

TEST_F(idle_thread, that_comes_back_at_any_moment_finds_its_blocks_whole) {
  served h;
  atomic<bool> enough{false};
  std::vector<std::thread> crew;
  for (int k = 0; k != 2; ++k)
    crew.push_back(h.thread([&, k] {
      std::minstd_rand random(k + 1);
      std::vector<std::pair<unsigned char*, std::size_t>> held;
      for (int i = 0; i != 60'000; ++i) {
        if (held.size() < 50 || random() % 2 == 0) {
          const std::size_t n = 1 + random() % 2'000;
          auto* const p = static_cast<unsigned char*>(h.allocate(n));
          p[0] = p[n - 1] = (unsigned char)(n);
          held.push_back({p, n});
        } else {
          std::swap(held[random() % held.size()], held.back());
          const auto [p, n] = held.back();
          held.pop_back();
          ASSERT_EQ((unsigned char)(n), p[0]);
          ASSERT_EQ((unsigned char)(n), p[n - 1]);
          h.free(p);
        }
      }
      for (const auto& [p, n] : held) h.free(p);
    }));
  std::thread claimer = h.thread([&] {
    while (!enough.load(order::relaxed)) {
      h.heap.trim(0);
      std::this_thread::yield();
    }
  });
  for (auto& thread : crew) thread.join();
  enough.store(true, order::relaxed);
  claimer.join();
  EXPECT_EQ(0u, h.now().allocated);
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().spans);
}

// Who trims looks at every LAB that there is, and so at one that is just being made.
TEST_F(idle_thread, that_begins_while_others_trim_has_its_lab_for_itself) {
#if defined(POLDER_EMULATED)
  constexpr int rounds = 100;  // an arena each, and addresses are few there
#else
  constexpr int rounds = 300;
#endif
  constexpr int threads = 4;
  for (int round = 0; round != rounds; ++round) {
    served h;
    atomic<int> without{0}, ended{0};
    std::vector<std::thread> crew;
    for (int k = 0; k != threads; ++k)
      crew.push_back(h.thread([&] {
        void* const p = h.allocate(size);
        if (!h.own().door.is_owned()) without.fetch_add(1, order::relaxed);
        h.free(p);
        ended.fetch_add(1, order::relaxed);
      }));
    while (ended.load(order::relaxed) != threads) h.heap.trim(0);
    for (auto& thread : crew) thread.join();
    ASSERT_EQ(0, without.load(order::relaxed)) << "in round " << round;
  }
}

// A thread that is turned away borrows; and has its own LAB again when the claim is over.
TEST_F(idle_thread, that_works_while_others_claim_its_lab_keeps_it) {
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  served h;
  h.allocate(16);
  atomic<bool> enough{false};
  atomic<unsigned> begun{0}, moved{0};
  std::vector<std::thread> crew;
  for (int k = 0; k != 2; ++k)
    crew.push_back(h.thread([&] {
      h.free(h.allocate(size));
      const lab* const mine = &h.own();
      begun.fetch_add(1, order::relaxed);
      while (!enough.load(order::relaxed)) h.free(h.allocate(size));
      moved.fetch_add(&h.own() != mine, order::relaxed);
    }));
  while (begun.load(order::relaxed) != 2) std::this_thread::yield();
  unsigned stopped = 0;  // for as long as a claim may last, about, while it may have claimed one
  for (int i = 0; i != 2'000; ++i) {
    const auto from = std::chrono::steady_clock::now();
    h.heap.trim(0);
    stopped += std::chrono::steady_clock::now() - from >= std::chrono::milliseconds(50);
  }
  enough.store(true, order::relaxed);
  for (auto& thread : crew) thread.join();
  EXPECT_LE(moved.load(order::relaxed), stopped);
  // Not one for each claim: three threads' own; for either of the crew one that it borrows, one that was trimmed just when it would
  // have borrowed that, and one for what it gave away for good.
  EXPECT_LE(h.now().labs, 9u);
}

TEST_F(idle_thread, whose_lab_is_claimed_frees_a_batch_all_the_same) {
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  served h;
  blocks held(100);
  for (void*& p : held) p = h.allocate(size);
  lab& own = h.own();
  ASSERT_EQ(claim::held, own.door.try_claim([] { return os::heavy_fence(); }));
  h.heap.deallocate_batch(held.data(), held.size());
  EXPECT_TRUE(own.door.end_claim());
  EXPECT_EQ(&own, &h.own());
  h.heap.trim(0);
  EXPECT_EQ(0u, h.now().allocated);
  h.validate();
}

// It looked at the clock, and before it went on a handler of its own was turned away, a moment later.
TEST_F(idle_thread, that_looked_at_the_clock_before_its_handler_did_keeps_its_lab) {
  served h;
  h.allocate(16);
  lab& own = h.own();
  ASSERT_EQ(claim::held, own.door.try_claim([] { return os::heavy_fence(); }));
  own.turned_away_since.store(os::coarse_milliseconds() + 10'000, order::relaxed);
  h.free(h.allocate(16));
  EXPECT_EQ(&own, &h.own());
  EXPECT_TRUE(own.door.end_claim());
}

// Nor does it lose it to one claimer for having met another, however long ago.
TEST_F(idle_thread, that_met_another_claim_long_ago_keeps_its_lab) {
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier here";
  served h;
  const auto meet_a_claim = [&] {
    lab& own = h.own();
    ASSERT_EQ(claim::held, own.door.try_claim([] { return os::heavy_fence(); }));
    h.free(h.allocate(16));
    EXPECT_EQ(&own, &h.own());
    EXPECT_TRUE(own.door.end_claim());
  };
  constexpr std::size_t large = 30'000;
  blocks theirs(MiB / large);
  std::thread sleeper = h.thread([&] {
    for (void*& p : theirs) p = h.allocate(large);
    for (const int turn : {1, 3}) {
      meet_a_claim();
      h.own().turned_away_since.store(1, order::relaxed);
      t.reach(turn);
      t.wait_for(turn + 1);
      meet_a_claim();
      h.free(h.allocate(16));
    }
  });
  t.wait_for(1);
  h.heap.trim(0);
  t.reach(2);
  t.wait_for(3);
  for (void* p : theirs) h.free(p);  // more than waits for who sleeps
  t.reach(4);
  sleeper.join();
}

// ---- LABs of threads that end without a word, outside: by the raw exit system call, say ---------------------------------

class killed_thread : public idle_thread {
 protected:
  // Runs f in a thread that does not give its LAB up, and returns when the kernel has forgotten it.
  template <class F>
  static void in_one(F f) {
    std::uint32_t number = 0;
    std::thread([&] {
      number = os::own_thread_number();
      f();
    }).join();
    os::await_end(number);
  }

  blocks held = blocks(2 * per_span);

  // Two spans of which every other block is free, whoever has them.
  void fill_by_halves(served& h) {
    for (void*& p : held) p = h.allocate(size);
    for (std::size_t i = 0; i < held.size(); i += 2) h.free(held[i]);
  }
  // Allocates the free halves; false: something else came.
  bool takes_the_other_halves(served& h) {
    std::set<void*> freed;
    for (std::size_t i = 0; i < held.size(); i += 2) freed.insert(held[i]);
    for (std::size_t i = 0; i < held.size(); i += 2)
      if (freed.erase(h.allocate(size)) != 1) return false;
    return true;
  }
};

TEST_F(killed_thread, its_spans_are_adopted_after_a_trim) {
  served h;
  h.allocate(16);
  in_one([&] { fill_by_halves(h); });
  EXPECT_EQ(2u, h.now().threads);
  const std::uint64_t spans = h.now().spans;
  h.heap.trim(0);
  EXPECT_EQ(1u, h.now().threads);
  EXPECT_TRUE(takes_the_other_halves(h));
  EXPECT_EQ(spans, h.now().spans);
  EXPECT_EQ(h.own().number, h.owner_of(held[1]));
}

TEST_F(killed_thread, its_lab_is_the_next_threads) {
  served h;
  h.allocate(16);
  for (int i = 0; i != 20; ++i) {
    in_one([&] { h.free(h.allocate(size)); });
    h.heap.trim(0);
  }
  EXPECT_EQ(2u, h.now().labs);
  EXPECT_EQ(1u, h.now().threads);
}

// Swept while it was there, it has nothing that a step of decay would come for, but for its end.
TEST_F(killed_thread, is_noticed_by_decay_though_it_was_swept_before) {
  served h({.arena_size = GiB, .decay_ms = 2});
  lab* theirs = nullptr;
  in_one([&] {
    fill_by_halves(h);
    theirs = &h.own();
    // A third one sweeps it.
    h.in_a_thread([&] { EXPECT_TRUE(works_until(h, [&] { return theirs->swept.load(order::relaxed) != 0; })); });
  });
  EXPECT_TRUE(works_until(h, [&] { return !theirs->door.is_owned(); }));
  EXPECT_TRUE(takes_the_other_halves(h));
}

TEST_F(killed_thread, is_not_taken_for_one_that_sleeps) {
  served h({.arena_size = GiB, .decay_ms = 2});
  h.allocate(16);
  std::thread sleeper = h.thread([&] {
    fill_by_halves(h);
    t.reach(1);
    t.wait_for(2);
    EXPECT_TRUE(h.own().door.is_owned());
    EXPECT_EQ(os::own_thread_number(), h.own().door.owner());
    EXPECT_TRUE(takes_the_other_halves(h)) << "they are its own still";
  });
  t.wait_for(1);
  for (int i = 0; i != 50; ++i) {
    h.heap.trim(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (unsigned k = 0; k != 2 * per_span; ++k) h.free(h.allocate(4 * size));
  }
  EXPECT_EQ(2u, h.now().threads);
  t.reach(2);
  sleeper.join();
}

// Nobody may ask about the thread of a borrowed LAB: the number it would be asked by says nothing about who borrows next.
TEST_F(killed_thread, is_no_owner_of_a_lab_that_was_borrowed) {
  served h;
  h.allocate(16);
  h.in_a_thread([&] {
    test_host::gone = true;
    static std::uint32_t owner;
    owner = 1;
    test_host::on_borrowing<lab> = [](lab& l) { owner = l.door.owner(); };
    h.free(h.allocate(size));
    EXPECT_EQ(gate::unnumbered, owner);
  });
}

// ---- what a heap says of itself while it is in use ----------------------------------------------------------------------

TEST(statistics_of_the_heap, are_ordered_under_load) {
  served h;
  atomic<bool> enough{false};
  std::vector<std::thread> crew;
  for (int k = 0; k != 2; ++k)
    crew.push_back(h.thread([&, k] {
      std::minstd_rand random(k + 7);
      blocks held;
      while (!enough.load(order::relaxed)) {
        if (held.size() < 2'000 && random() % 100 < 55) {
          held.push_back(h.allocate(random() % 100 == 0 ? random() % 500'000 : 2'000 + random() % 30'000));
        } else if (!held.empty()) {
          std::swap(held[random() % held.size()], held.back());
          h.free(held.back());
          held.pop_back();
        }
      }
      for (void* p : held) h.free(p);
    }));
  while (h.now().spans < 200) std::this_thread::yield();  // they have begun
  unsigned disordered = 0;
  statistics worst;
  for (int i = 0; i != 3'000; ++i) {
    const statistics s = h.now();
    if (s.allocated > s.active || s.active > s.resident || s.resident > s.mapped || s.mapped > s.reserved) {
      ++disordered;
      worst = s;
    }
  }
  enough.store(true, order::relaxed);
  for (auto& t : crew) t.join();
  EXPECT_EQ(0u, disordered) << "of 3000, such as " << worst.allocated << " " << worst.active << " "
                            << worst.resident << " " << worst.mapped << " " << worst.reserved;
}

// ---- cache lines -----------------------------------------------------------------------------------------------------

using owners = std::map<std::uintptr_t, int>;  // cache line → thread

// The lines of a block and who holds it.
void hold(owners& lines, const void* p, std::size_t n, int who) {
  for (std::uintptr_t line = address(p) / cache_line; line <= (address(p) + n - 1) / cache_line; ++line) {
    const auto [at, fresh] = lines.insert({line, who});
    ASSERT_TRUE(fresh || at->second == who) << "line " << std::hex << line * cache_line << " has two holders";
  }
}

// Active: blocks of two threads that allocate in turn.
TEST(false_sharing, is_not_made_by_allocating) {
  served h;
  turns t;
  owners lines;
  const auto allocate = [&](int who) {
    for (int round = 0; round != 100; ++round) {
      t.wait_for(2 * round + who);
      for (const std::size_t n : {1ul, 16ul, 24ul, 100ul, 1000ul, 5000ul, 70'000ul})
        hold(lines, h.allocate(n), n, who);
      t.reach(2 * round + who + 1);
    }
  };
  std::thread other = h.thread([&] { allocate(1); });
  allocate(0);
  other.join();
}

// Passive: blocks of one thread that another frees do not become the other's.
TEST(false_sharing, is_not_made_by_freeing_for_another) {
  served h;
  turns t;
  blocks mine;
  for (unsigned i = 0; i != 2 * unsigned(mem::grain_size / 16); ++i) mine.push_back(h.allocate(16));
  std::thread other = h.thread([&] {
    for (std::size_t i = 0; i < mine.size(); i += 2) h.free(mine[i]);
    owners lines;
    for (std::size_t i = 1; i < mine.size(); i += 2) hold(lines, mine[i], 16, 0);
    for (int i = 0; i != 20'000; ++i) hold(lines, h.allocate(16), 16, 1);
    t.reach(1);
    t.wait_for(2);
  });
  t.wait_for(1);
  t.reach(2);
  other.join();
}

// The heap's own records of two threads, too.
TEST(false_sharing, labs_do_not_touch) {
  served h;
  h.allocate(1);
  const std::uintptr_t mine = address(&h.own());
  h.in_a_thread([&] {
    h.allocate(1);
    const std::uintptr_t theirs = address(&h.own());
    EXPECT_TRUE(is_aligned(theirs, false_sharing_range));
    EXPECT_GE(theirs > mine ? theirs - mine : mine - theirs, sizeof(lab));
  });
}

}  // namespace
}  // namespace polder::heap
