// Structures that are broken on purpose, really run by several threads: each is noticed by the checker of what it
// breaks, and the same structure without the mistake is not.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <mutex>
#include <thread>

#include <polder/smr/thread_slot.hpp>

#include "checker/play.hpp"
#include "checker/promise.hpp"
#include "checker/sided.hpp"

namespace polder::checker {
namespace {

using value = std::uint64_t;
using ds::emptiness, ds::semantics, ds::shape;

// A list under a lock, and what may be done with it.
class locked {
 protected:
  std::mutex lock_;
  std::deque<value> inside_;
  unsigned turn_ = 0;

  bool add(value v) {
    inside_.push_back(v);
    return true;
  }
  std::optional<value> take(std::size_t at) {
    if (at >= inside_.size()) return std::nullopt;
    const value v = inside_[at];
    inside_.erase(inside_.begin() + std::ptrdiff_t(at));
    return v;
  }
  std::size_t top() const { return inside_.size() - 1; }  // of none: past the end
  bool seldom() { return ++turn_ % 97 == 0; }
};

struct good_queue : locked {
  bool put(value v) { return std::lock_guard(lock_), add(v); }
  std::optional<value> get() { return std::lock_guard(lock_), take(0); }
};
struct good_stack : good_queue {
  std::optional<value> get() { return std::lock_guard(lock_), take(top()); }
};
// Now and then the second comes first.
struct queue_of_seconds : good_queue {
  std::optional<value> get() {
    const std::lock_guard l(lock_);
    return take(seldom() && inside_.size() > 1 ? 1 : 0);
  }
};
struct stack_of_seconds : good_queue {
  std::optional<value> get() {
    const std::lock_guard l(lock_);
    return take(seldom() && inside_.size() > 1 ? top() - 1 : top());
  }
};
struct losing_stack : good_stack {
  bool put(value v) {
    const std::lock_guard l(lock_);
    return seldom() || add(v);
  }
};
struct doubling_queue : good_queue {
  std::optional<value> get() {
    const std::lock_guard l(lock_);
    if (seldom() && !inside_.empty()) return inside_.front();
    return take(0);
  }
};
struct inventing_queue : good_queue {
  std::optional<value> get() {
    const std::lock_guard l(lock_);
    return seldom() ? std::optional<value>(12345) : take(0);
  }
};
struct seemingly_empty_queue : good_queue {
  std::optional<value> get() {
    const std::lock_guard l(lock_);
    return seldom() ? std::nullopt : take(0);
  }
};
// Any of so many that are next.
template <std::size_t K>
struct k_queue : good_queue {
  std::optional<value> get() {
    const std::lock_guard l(lock_);
    return inside_.empty() ? std::nullopt : take(std::min(inside_.size() - 1, std::size_t(++turn_ * 7 % (K + 1))));
  }
};
// Each thread's elements in a queue of its own.
struct queues_of_threads {
  std::array<good_queue, 64> own;
  atomic<unsigned> turn{0};
  virtual unsigned which() { return smr::thread_slot::mine() % 64; }
  virtual ~queues_of_threads() = default;
  bool put(value v) { return own[which()].put(v); }
  std::optional<value> get() {
    const unsigned first = turn.fetch_add(1, order::relaxed);
    for (unsigned i = 0; i != 64; ++i) {
      if (std::optional<value> v = own[(first + i) % 64].get()) return v;
    }
    return std::nullopt;
  }
};
// One thread's in several.
struct queues_by_chance : queues_of_threads {
  unsigned which() override { return turn.load(order::relaxed) % 2; }
};

struct good_deque : locked {
  bool put(value v) { return put_right(v); }
  std::optional<value> get() { return get_left(); }
  bool put_left(value v) {
    const std::lock_guard l(lock_);
    inside_.push_front(v);
    return true;
  }
  bool put_right(value v) { return std::lock_guard(lock_), add(v); }
  std::optional<value> get_left() { return std::lock_guard(lock_), take(0); }
  std::optional<value> get_right() { return std::lock_guard(lock_), take(top()); }
};
struct deque_of_one_side : good_deque {
  std::optional<value> get_right() { return get_left(); }
};

// What an eliminating stack reads of its partner. A push shows itself and waits for a while; a pop that finds it takes
// it.
struct word_of_the_value {
  // The pop takes the value itself out of the word: what it has is what was shown when it took it.
  atomic<value> shown{0};
  void show(value v) { shown.store(v, order::release); }
  bool withdraw(value v) { return shown.cas(v, 0, order::acq_rel, order::relaxed); }
  std::optional<value> take() {
    value v = shown.load(order::acquire);
    if (v == 0 || !shown.cas(v, 0, order::acq_rel, order::relaxed)) return std::nullopt;
    return v;
  }
};
struct slot_of_the_thread {
  // As published: the pop first tells the push that it is done, and then reads the slot, which the push may use again.
  atomic<value> operation{0};
  atomic<bool> waits{false};
  void show(value v) {
    operation.store(v, order::release);
    waits.store(true, order::release);
  }
  bool withdraw(value) {
    bool w = true;
    return waits.cas(w, false, order::acq_rel, order::relaxed);
  }
  std::optional<value> take() {
    bool w = true;
    if (!waits.cas(w, false, order::acq_rel, order::relaxed)) return std::nullopt;
    std::this_thread::yield();
    return operation.load(order::acquire);
  }
};
template <class Partner>
struct eliminating_stack : good_stack {
  std::array<Partner, 64> partners;
  bool put(value v) {
    Partner& mine = partners[smr::thread_slot::mine() % 64];
    mine.show(v);
    std::this_thread::yield();
    return !mine.withdraw(v) || good_stack::put(v);
  }
  std::optional<value> get() {
    for (Partner& p : partners) {
      if (std::optional<value> v = p.take()) return v;
    }
    return good_stack::get();
  }
};

template <class C>
verdict tried(const promised& p, unsigned meet_every = 0) {
  C c;
  counter clock;
  // Meetings take long where processors are few.
  plan how{.threads = 4,
           .operations = meet_every == 0 ? 4000u : 400u,
           .seed = 7,
           .prefill = 20,
           .meet_every = meet_every};
  return kept(p, elements_of(play(c, clock, how)));
}

constexpr promised strict_queue{shape::queue, semantics::linearizable};
constexpr promised strict_stack{shape::stack, semantics::linearizable};
constexpr promised strict_pool{shape::pool, semantics::pool};
constexpr promised loose_pool{shape::pool, semantics::pool, emptiness::may_err};

bool says(const verdict& v, const char* words) { return v.wrong.find(words) != std::string::npos; }

TEST(broken, what_is_not_broken_is_not_noticed) {
  EXPECT_TRUE(tried<good_queue>(strict_queue));
  EXPECT_TRUE(tried<good_queue>({shape::queue, semantics::locally_linearizable}));
  EXPECT_TRUE(tried<good_queue>({shape::queue, semantics::quiescently_consistent}, 10));
  EXPECT_TRUE(tried<good_stack>(strict_stack));
  EXPECT_TRUE(tried<good_stack>({shape::stack, semantics::locally_linearizable}));
  EXPECT_TRUE(tried<good_stack>({shape::stack, semantics::k_out_of_order}));
  EXPECT_TRUE(tried<good_deque>({shape::deque, semantics::linearizable}));
}

TEST(broken, the_second_comes_first) {
  EXPECT_TRUE(says(tried<queue_of_seconds>(strict_queue), "was put before"));
  EXPECT_TRUE(says(tried<stack_of_seconds>(strict_stack), "below the others"));
  EXPECT_FALSE(tried<good_queue>(strict_stack));
  EXPECT_FALSE(tried<good_stack>(strict_queue));
  EXPECT_TRUE(tried<queue_of_seconds>(strict_pool));
}

TEST(broken, lost_doubled_invented) {
  EXPECT_TRUE(says(tried<losing_stack>(loose_pool), "lost"));
  EXPECT_TRUE(says(tried<doubling_queue>(loose_pool), "more than once"));
  EXPECT_TRUE(says(tried<inventing_queue>(loose_pool), "never put"));
}

TEST(broken, says_it_is_empty) {
  EXPECT_TRUE(says(tried<seemingly_empty_queue>(strict_pool), "found nothing"));
  EXPECT_TRUE(says(tried<seemingly_empty_queue>(strict_queue), "found nothing"));
  // It says so when nobody else is at work, too.
  EXPECT_TRUE(says(tried<seemingly_empty_queue>({shape::queue, semantics::linearizable, emptiness::may_err}),
                   "nobody else at work"));
}

TEST(broken, k_is_exceeded) {
  EXPECT_TRUE(tried<k_queue<5>>({shape::queue, semantics::k_out_of_order, emptiness::exact, 5}));
  EXPECT_TRUE(
      says(tried<k_queue<5>>({shape::queue, semantics::k_out_of_order, emptiness::exact, 2}), "and k is 2"));
  EXPECT_TRUE(
      says(tried<good_queue>({shape::stack, semantics::k_out_of_order, emptiness::exact, 3}), "and k is 3"));
}

TEST(broken, one_threads_order) {
  EXPECT_TRUE(tried<queues_of_threads>({shape::queue, semantics::locally_linearizable, emptiness::may_err}));
  EXPECT_FALSE(tried<queues_of_threads>({shape::queue, semantics::linearizable, emptiness::may_err}));
  EXPECT_TRUE(says(tried<queues_by_chance>({shape::queue, semantics::locally_linearizable, emptiness::may_err}),
                   "of what thread"));
}

TEST(broken, order_between_quiescent_moments) {
  EXPECT_FALSE(tried<good_stack>({shape::queue, semantics::quiescently_consistent}, 5));
  EXPECT_FALSE(tried<good_queue>({shape::stack, semantics::quiescently_consistent}, 5));
  EXPECT_TRUE(tried<good_stack>({shape::stack, semantics::quiescently_consistent}, 5));
}

TEST(broken, a_deque_with_one_side) {
  counter clock;
  unsigned noticed = 0;
  for (std::uint64_t seed = 0; seed != 50; ++seed) {
    good_deque good;
    ASSERT_TRUE(deque(play_sides(good, clock, seed))) << seed;
    deque_of_one_side bad;
    noticed += !deque(play_sides(bad, clock, seed));
  }
  EXPECT_GT(noticed, 5u);
}

// A published elimination stack did so: 20,158 different values of 40,000.
TEST(broken, a_pop_that_reads_its_partners_slot_after_it_was_used_again) {
  EXPECT_TRUE(tried<eliminating_stack<word_of_the_value>>(strict_stack, 20));
  unsigned tries = 20;
  while (tries != 0 && !says(tried<eliminating_stack<slot_of_the_thread>>(loose_pool, 20), "value")) --tries;
  EXPECT_NE(tries, 0u);
}

}  // namespace
}  // namespace polder::checker
