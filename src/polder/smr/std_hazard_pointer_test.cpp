// C++26's <hazard_pointer>, clause by clause.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <polder/base/sanitizers.hpp>
#include <polder/smr/std_hazard_pointer.hpp>
#include <polder/smr/steps_test.hpp>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace polder::smr;

std::atomic<int> lives{0};

struct object : hazard_pointer_obj_base<object> {
  static constexpr int whole = 77;
  int value = whole;
  object() { ++lives; }
  ~object() { value = 0, --lives; }
};

void drain() { default_hazard_domain().drain(); }

static_assert(!std::is_copy_constructible_v<hazard_pointer> && !std::is_copy_assignable_v<hazard_pointer>);
static_assert(std::is_nothrow_move_constructible_v<hazard_pointer>);
static_assert(std::is_nothrow_move_assignable_v<hazard_pointer>);
static_assert(std::is_nothrow_default_constructible_v<hazard_pointer> &&
              std::is_nothrow_swappable_v<hazard_pointer>);
static_assert(noexcept(std::declval<object&>().retire()));
static_assert(sizeof(object) == sizeof(int), "an empty deleter takes no room");

TEST(std_hazard_pointer, default_made_is_empty_and_made_is_not) {
  hazard_pointer none;
  EXPECT_TRUE(none.empty());
  hazard_pointer one = make_hazard_pointer();
  EXPECT_FALSE(one.empty());
}

TEST(std_hazard_pointer, moves_and_swaps_its_ownership) {
  hazard_pointer a = make_hazard_pointer();
  hazard_pointer b(std::move(a));
  EXPECT_TRUE(a.empty());
  EXPECT_FALSE(b.empty());
  a = std::move(b);
  EXPECT_TRUE(b.empty());
  EXPECT_FALSE(a.empty());
  swap(a, b);
  EXPECT_TRUE(a.empty());
  a.swap(b);
  EXPECT_FALSE(a.empty());
  hazard_pointer& same = a;
  a = std::move(same);
  EXPECT_FALSE(a.empty());
}

TEST(std_hazard_pointer, protects_until_reset) {
  std::atomic<object*> shared{new object};
  const std::size_t before = default_hazard_domain().statistics().unreclaimed();
  hazard_pointer h = make_hazard_pointer();
  object* const held = h.protect(shared);
  shared.exchange(nullptr)->retire();
  for (int n = 0; n != 1000; ++n) (new object)->retire();
  EXPECT_EQ(held->value, object::whole);
  EXPECT_GT(default_hazard_domain().statistics().unreclaimed(), before);
  h.reset_protection();
  drain();
  EXPECT_EQ(lives, 0);
}

TEST(std_hazard_pointer, protection_moves_with_the_hazard_pointer_to_another_thread) {
  std::atomic<object*> shared{new object};
  hazard_pointer h = make_hazard_pointer();
  object* const held = h.protect(shared);
  shared.exchange(nullptr)->retire();
  std::thread([held, mine = std::move(h)]() mutable {
    for (int n = 0; n != 1000; ++n) (new object)->retire();
    EXPECT_EQ(held->value, object::whole);
  }).join();
  drain();
  EXPECT_EQ(lives, 0);
}

TEST(std_hazard_pointer, try_protect_says_whether_the_source_still_had_it) {
  std::atomic<object*> shared{new object};
  hazard_pointer h = make_hazard_pointer();
  object* seen = shared.load();
  EXPECT_TRUE(h.try_protect(seen, shared));
  object* const first = seen;
  object* const second = new object;
  shared.store(second);
  EXPECT_FALSE(h.try_protect(seen, shared));
  EXPECT_EQ(seen, second);
  first->retire();  // it protects nothing now
  drain();
  EXPECT_EQ(lives, 1);
  shared.exchange(nullptr)->retire();
  drain();
  EXPECT_EQ(lives, 0);
}

TEST(std_hazard_pointer, reset_protection_protects_what_is_not_unlinked_yet) {
  std::atomic<object*> shared{new object};
  hazard_pointer h = make_hazard_pointer();
  h.reset_protection(shared.load());
  object* const held = shared.exchange(nullptr);
  held->retire();
  for (int n = 0; n != 1000; ++n) (new object)->retire();
  EXPECT_EQ(held->value, object::whole);
  h.reset_protection(nullptr);
  drain();
  EXPECT_EQ(lives, 0);
}

struct counting {
  int* told = nullptr;
  template <class T>
  void operator()(T* p) const {
    ++*told;
    delete p;
  }
};
struct with_state : hazard_pointer_obj_base<with_state, counting> {};

TEST(std_hazard_pointer, calls_the_deleter_that_retire_was_given_once) {
  int told = 0;
  for (int n = 0; n != 300; ++n) (new with_state)->retire(counting{&told});
  drain();
  EXPECT_EQ(told, 300);
}

// Of whom a hazard pointer is that stood when the process forked cannot be told: what it protects stays, and nobody waits for it.
TEST(std_hazard_pointer, of_a_thread_that_is_gone_in_a_forks_child_keeps_no_drain_waiting) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  std::atomic<object*> theirs{new object}, mine{new object}, later{new object};
  const std::uint64_t before = default_hazard_domain().statistics().unreclaimed();
  steps at;
  std::thread other([&] {
    hazard_pointer h = make_hazard_pointer();
    h.protect(theirs);
    at.reach(1);
    at.wait_for(2);
  });
  at.wait_for(1);
  hazard_pointer h = make_hazard_pointer();
  object* const held = h.protect(mine);
  theirs.exchange(nullptr)->retire();
  mine.exchange(nullptr)->retire();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const auto left = [&] { return default_hazard_domain().statistics().unreclaimed() - before; };
    for (int n = 0; n != 1000; ++n) (new object)->retire();
    drain();
    if (left() != 2 || held->value != object::whole) _exit(1);
    h.reset_protection();
    drain();
    if (left() != 1) _exit(2);
    // A drain waits for those of the threads that there are, be it in a slot from before.
    h.protect(later);
    later.exchange(nullptr)->retire();
    steps there;
    std::thread drains([&] {
      there.reach(1);
      drain();
      there.reach(2);
    });
    there.wait_for(1);
    for (int n = 0; n != 1000; ++n) std::this_thread::yield();
    if (there.reached(2)) _exit(3);
    h.reset_protection();
    drains.join();
    _exit(left() == 1 ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  at.reach(2);
  other.join();
  h.reset_protection();
  later.exchange(nullptr)->retire();
  drain();
  EXPECT_EQ(lives, 0);
}

TEST(std_hazard_pointer, readers_beside_a_writer) {
  std::atomic<object*> shared{new object};
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (int t = 0; t != 3; ++t) {
    readers.emplace_back([&] {
      while (!over) {
        hazard_pointer h = make_hazard_pointer();
        for (int n = 0; n != 100; ++n) ASSERT_EQ(h.protect(shared)->value, object::whole);
      }
    });
  }
  for (int n = 0; n != 20'000; ++n) shared.exchange(new object)->retire();
  over = true;
  for (std::thread& t : readers) t.join();
  shared.exchange(nullptr)->retire();
  drain();
  EXPECT_EQ(lives, 0);
}

}  // namespace
