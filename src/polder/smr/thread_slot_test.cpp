// Numbers of threads, where the C library does not tell of their ends any more.
#include <polder/smr/thread_slot.hpp>

#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <polder/base/sanitizers.hpp>
#include <polder/smr/epoch/epoch.hpp>
#include <polder/smr/hazard/hazard.hpp>
#include <polder/smr/std_rcu.hpp>
#include <polder/smr/steps_test.hpp>
#include <thread>
#include <utility>

namespace polder::smr {
namespace {

#if !POLDER_TSAN  // which has forgotten the thread in the last round

// What is done in the last round of the destructors of a thread's specific data.
struct last_round {
  static inline pthread_key_t key;
  static inline int round;
  static inline ebr::domain *outer, *inner;
  static inline std::atomic<int> at;
  static inline thread_slot::number mine;
  static inline bool kept, fleeting;

  static void next(void* p) {
    if (++round != PTHREAD_DESTRUCTOR_ITERATIONS) {
      {
        ebr::guard<1> g(*outer);
      }  // so that the registry hears of the round
      pthread_setspecific(key, p);
      return;
    }
    {
      ebr::guard<1> g(*outer);
      mine = thread_slot::mine();
      fleeting = thread_slot::fleeting();
      { ebr::guard<1> h(*inner); }
      at = 1;
      while (at != 2) std::this_thread::yield();
      kept = outer->members().find(mine)->depth == 1;
    }
    at = 3;
  }
};

TEST(thread_slots, of_a_thread_in_its_last_round_stay_its_own_while_any_guard_is_open) {
  ebr::domain outer, inner;
  using t = last_round;
  t::outer = &outer, t::inner = &inner, t::round = 0, t::at = 0;
  ASSERT_EQ(pthread_key_create(&t::key, t::next), 0);
  std::thread ends([] {
    pthread_setspecific(t::key, &t::key);
    ebr::guard<1> g(*t::outer);
  });
  while (t::at != 1) std::this_thread::yield();
  EXPECT_TRUE(t::fleeting);
  std::thread([&] {
    ebr::guard<1> g(outer);
    EXPECT_NE(thread_slot::mine(), t::mine);
    EXPECT_EQ(outer.members().find(thread_slot::mine())->depth, 1u);
    t::at = 2;
    while (t::at != 3) std::this_thread::yield();
  }).join();
  ends.join();
  EXPECT_TRUE(t::kept);
  // Nobody has the number any more: the next thread takes it, and the seat.
  std::thread([&] {
    ebr::guard<1> g(outer), h(inner);
    EXPECT_EQ(thread_slot::mine(), t::mine);
  }).join();
  pthread_key_delete(t::key);
}

// One of them passes its domain's bound, and there is nobody to be told of it.
struct last_round_over_the_bound {
  struct node : hazard::header {
    long words[8] = {};
  };
  static inline pthread_key_t key;
  static inline int round;
  static inline hazard::domain* domain;
  static inline thread_slot::number mine;
  static inline bool fleeting;

  static void next(void* p) {
    hazard::guard<1> g(*domain);
    if (++round != PTHREAD_DESTRUCTOR_ITERATIONS) {
      pthread_setspecific(key, p);
      return;
    }
    mine = thread_slot::mine();
    fleeting = thread_slot::fleeting();
    node* const n = g.make<node>();
    g.hold(0, n);
    g.retire(n);
  }
};

TEST(thread_slots, of_a_thread_in_its_last_round_are_given_back_though_it_passed_a_bound) {
  using t = last_round_over_the_bound;
  hazard::domain domain({.bound = {.bytes = 1}});
  t::domain = &domain, t::round = 0;
  ASSERT_EQ(pthread_key_create(&t::key, t::next), 0);
  std::thread([] {
    pthread_setspecific(t::key, &t::key);
    hazard::guard<1> g(*t::domain);
  }).join();
  EXPECT_TRUE(t::fleeting);
  EXPECT_EQ(domain.members().find(t::mine), nullptr);
  std::thread([&] {
    hazard::guard<1> g(domain);
    EXPECT_EQ(thread_slot::mine(), t::mine);
  }).join();
  pthread_key_delete(t::key);
  domain.drain();
}

// A thread that does one thing, for which it takes a number, and another in the last round. In the rounds between it asks
// for none.
class ends_late {
 public:
  ends_late(std::function<void()> first, std::function<void()> last) : last_(std::move(last)) {
    EXPECT_EQ(pthread_key_create(&key_, next), 0);
    thread_ = std::thread([this, first = std::move(first)] {
      pthread_setspecific(key_, this);
      first();
    });
  }
  ends_late(const ends_late&) = delete;
  ends_late& operator=(const ends_late&) = delete;

  void join() {
    thread_.join();
    EXPECT_EQ(round_, PTHREAD_DESTRUCTOR_ITERATIONS);
    pthread_key_delete(key_);
  }

 private:
  static void next(void* p) {
    ends_late& mine = *static_cast<ends_late*>(p);
    if (++mine.round_ != PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(mine.key_, p);
    else mine.last_();
  }

  pthread_key_t key_{};
  int round_ = 0;
  const std::function<void()> last_;
  std::thread thread_;
};

TEST(thread_slots, of_a_thread_in_its_last_round_are_given_back_though_it_was_idle_in_the_rounds_before) {
  thread_slot::number its = thread_slot::none;
  const auto opens_a_region = [&its] {
    const std::scoped_lock region(rcu_default_domain());
    its = thread_slot::mine();
  };
  ends_late(opens_a_region, opens_a_region).join();
  std::thread([&] {
    const std::scoped_lock region(rcu_default_domain());
    EXPECT_EQ(thread_slot::mine(), its);
  }).join();
}

// While it drains, a thread with a lesser number ends: whoever asks next gets that number, and with it another seat.
TEST(thread_slots, of_a_thread_in_its_last_round_stay_its_own_until_its_drain_is_over) {
  ebr::domain domain;
  std::optional<ebr::guard<1>> mine(std::in_place, domain);  // its seat is the last that the drain comes to
  thread_slot::number lesser = thread_slot::none, greater = thread_slot::none;
  std::uint64_t left = 1;
  steps done, told;
  std::thread retires([&] {
    ebr::guard<1> g(domain);
    lesser = thread_slot::mine();
    g.retire(g.make<long>());
    done.reach(1);
    told.wait_for(1);
  });
  done.wait_for(1);
  ends_late drains([&] { greater = thread_slot::mine(); },
                   [&] { domain.drain(), left = domain.statistics().unreclaimed(); });
  while (domain.members().find(lesser)->gate.state() != seat_state::claimed) std::this_thread::yield();
  told.reach(1);
  retires.join();
  mine.reset();
  drains.join();
  EXPECT_LT(lesser, greater);
  EXPECT_EQ(left, 0u);
  // Nobody has either any more.
  std::thread([&] {
    EXPECT_EQ(thread_slot::mine(), lesser);
    std::thread([&] { EXPECT_EQ(thread_slot::mine(), greater); }).join();
  }).join();
  domain.drain();
}

TEST(thread_slots, are_not_taken_in_the_last_round_by_what_opens_no_guard) {
  ebr::domain domain;
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"synchronize", [&] { domain.synchronize(); }},
      {"rcu_synchronize", [] { rcu_synchronize(); }},
      {"detach", [&] { domain.detach(); }},
      {"stalls", [&] { domain.stalls(0, [](const stall&) {}); }},
      {"longest_stall", [&] { domain.longest_stall(); }},
  };
  const auto least_free = [] {
    thread_slot::number found = thread_slot::none;
    std::thread([&] { found = thread_slot::mine(); }).join();
    return found;
  };
  for (const auto& [name, call] : calls) {
    const thread_slot::number before = least_free();
    ends_late([] { thread_slot::mine(); }, call).join();
    EXPECT_EQ(least_free(), before) << name;
  }
}

#endif

// A guard that a thread leaves open in its specific data, whose destructor comes after the registry's.
struct left_open {
  static inline pthread_key_t key;
  static inline ebr::domain* domain;
  static inline std::atomic<int> at;
  static inline thread_slot::number mine;

  static void close(void* p) {
    at = 1;
    while (at != 2) std::this_thread::yield();
    delete static_cast<ebr::guard<1>*>(p);
  }
};

TEST(thread_slots, are_kept_to_the_next_round_for_a_guard_that_is_open) {
  ebr::domain domain;
  using t = left_open;
  t::domain = &domain, t::at = 0;
  ASSERT_EQ(pthread_key_create(&t::key, t::close), 0);
  std::thread ends([] {
    pthread_setspecific(t::key, new ebr::guard<1>(*t::domain));
    t::mine = thread_slot::mine();
  });
  while (t::at != 1) std::this_thread::yield();
  std::thread([&] {
    ebr::guard<1> g(domain);
    EXPECT_NE(thread_slot::mine(), t::mine);
    EXPECT_EQ(domain.members().find(thread_slot::mine())->depth, 1u);
  }).join();
  t::at = 2;
  ends.join();
  std::thread([&] {
    ebr::guard<1> g(domain);
    EXPECT_EQ(thread_slot::mine(), t::mine);
  }).join();
  pthread_key_delete(t::key);
}

}  // namespace
}  // namespace polder::smr
