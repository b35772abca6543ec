// ll_k_stack under what is asked of every collection, and with segments of several sizes.
#include <polder/ds/stack/ll_k_stack.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::collection_suite {
namespace {

template <class T, class R, class M>
struct of_two : ll_k_stack<T, R, M> {
  explicit of_two(typename R::domain& d) : ll_k_stack<T, R, M>(d, 2) {}
};

POLDER_COLLECTION_SUITE(ll_k_stack, ll_k_stack);
POLDER_COLLECTION_SUITE(ll_k_stack_of_two, of_two);

using stack = ll_k_stack<std::uint64_t, smr::debra>;

TEST(ll_k_stack, a_k_of_nothing_is_refused) {
  drained<smr::debra> domain;
  EXPECT_THROW(stack(domain, 0), std::invalid_argument);
  EXPECT_THROW(stack(domain, most_k + 1), std::invalid_argument);
}

// As published, a push of a thread alone took 17 KiB.
TEST(ll_k_stack, a_thread_alone_pays_for_one_slot_an_element) {
  drained<smr::debra> domain;
  stack s(domain, 80);
  constexpr std::uint64_t n = 1000;
  for (std::uint64_t i = 0; i != n; ++i) s.push(i);
  for (std::uint64_t i = 0; i != n; ++i) ASSERT_EQ(s.pop(), n - 1 - i);
  ASSERT_FALSE(s.pop());
  EXPECT_GE(domain.statistics().retired, n - 1);
  EXPECT_LE(domain.statistics().retired_bytes, n * 128);
}

// What each thread put comes out in its order, whoever takes it; segments are of three slots.
TEST(ll_k_stack, elements_of_each_thread_come_out_in_its_order) {
  drained<smr::debra> domain;
  constexpr std::uint64_t threads = 4, each = 500;
  stack s(domain, 3);
  std::vector<std::thread> workers;
  for (std::uint64_t t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::uint64_t i = 0; i != each; ++i) s.push(t * each + i);
    });
  }
  for (std::thread& w : workers) w.join();
  std::vector<std::uint64_t> next(threads, each);
  for (std::uint64_t n = 0; n != threads * each; ++n) {
    const std::optional<std::uint64_t> e = s.pop();
    ASSERT_TRUE(e);
    ASSERT_EQ(*e % each, --next[*e / each]) << "thread " << *e / each;
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
