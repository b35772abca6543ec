// C++26's <rcu>, clause by clause.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <polder/smr/std_rcu.hpp>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace polder::smr;

std::atomic<int> lives{0};

struct object : rcu_obj_base<object> {
  static constexpr int whole = 77;
  int value = whole;
  object() { ++lives; }
  ~object() { value = 0, --lives; }
};

static_assert(!std::is_copy_constructible_v<rcu_domain> && !std::is_copy_assignable_v<rcu_domain>);
static_assert(noexcept(rcu_synchronize()) && noexcept(rcu_barrier()) && noexcept(rcu_default_domain()));
static_assert(noexcept(std::declval<rcu_domain&>().lock()) && noexcept(std::declval<rcu_domain&>().unlock()));

TEST(std_rcu, a_region_is_opened_by_any_lock_and_nests) {
  rcu_domain& dom = rcu_default_domain();
  const std::scoped_lock outer(dom);
  {
    const std::scoped_lock inner(dom);
    EXPECT_TRUE(dom.try_lock());
    dom.unlock();
  }
  std::unique_lock<rcu_domain> again(dom);
  again.unlock();
}

TEST(std_rcu, what_is_retired_stays_while_a_region_is_open) {
  std::atomic<object*> shared{new object};
  {
    const std::scoped_lock region(rcu_default_domain());
    object* const held = shared.load();
    std::thread([&] {
      shared.exchange(nullptr)->retire();
      for (int n = 0; n != 1000; ++n) (new object)->retire();
    }).join();
    EXPECT_EQ(held->value, object::whole);
    EXPECT_GE(lives, 1);
  }
  rcu_barrier();
  EXPECT_EQ(lives, 0);
}

TEST(std_rcu, synchronize_waits_for_regions_that_are_open) {
  for (int round = 0; round != 30; ++round) {
    std::atomic<bool> inside{false}, left{false};
    std::thread reader([&] {
      const std::scoped_lock region(rcu_default_domain());
      inside = true;
      std::this_thread::yield();
      left = true;
    });
    while (!inside) std::this_thread::yield();
    rcu_synchronize();
    EXPECT_TRUE(left);
    reader.join();
  }
}

TEST(std_rcu, retire_of_any_type_and_with_a_deleter_that_has_state) {
  int told = 0;
  rcu_retire(new int(1));
  rcu_retire(new int(2), [&told](int* p) { ++told, delete p; });
  rcu_retire(new int(3), [](int* p) { delete p; });
  rcu_retire(new const int(4));
  rcu_retire(new const int(5), [](const int* p) { delete p; });
  rcu_barrier();
  EXPECT_EQ(told, 1);
}

// Checked builds look for objects that are retired twice.
TEST(std_rcu, schedules_one_pointer_as_often_as_it_is_asked_to) {
  int told = 0, calls = 0;
  for (int n = 0; n != 3; ++n) rcu_retire(&told, [&calls](int* p) { ++*p, ++calls; });
  rcu_barrier();
  EXPECT_EQ(told, 3);
  EXPECT_EQ(calls, 3);
}

TEST(std_rcu, schedules_one_pointer_as_often_as_it_is_asked_to_without_state) {
  static int calls;
  calls = 0;
  int told = 0;
  for (int n = 0; n != 3; ++n) rcu_retire(&told, [](int* p) { ++*p, ++calls; });
  rcu_barrier();
  EXPECT_EQ(told, 3);
  EXPECT_EQ(calls, 3);
}

struct counting {
  std::atomic<int>* told = nullptr;
  template <class T>
  void operator()(T* p) const {
    ++*told;
    delete p;
  }
};
struct with_state : rcu_obj_base<with_state, counting> {};

TEST(std_rcu, barrier_waits_for_every_deleter_that_was_scheduled) {
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n != 500; ++n) (new with_state)->retire(counting{&told});
    });
  }
  for (std::thread& t : threads) t.join();
  rcu_barrier();
  EXPECT_EQ(told, 1500);
}

// A deleter takes a lock that is held while a region is opened: it runs elsewhere.
TEST(std_rcu, opening_a_region_runs_no_deleter) {
  static std::mutex lock;
  static std::thread::id here;
  here = std::this_thread::get_id();
  static bool ran_here;
  ran_here = false;
  struct locking {
    void operator()(int* p) const {
      if (std::this_thread::get_id() == here) ran_here = true;
      const std::scoped_lock hold(lock);
      delete p;
    }
  };
  for (int n = 0; n != 2000; ++n) rcu_retire(new int(n), locking{});
  {
    const std::scoped_lock hold(lock);
    for (int n = 0; n != 2000; ++n) const std::scoped_lock region(rcu_default_domain());
    EXPECT_FALSE(ran_here);
  }
  rcu_barrier();
}

}  // namespace
