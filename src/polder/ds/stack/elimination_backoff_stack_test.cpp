// elimination_backoff_stack under what is asked of every collection, and with other parameters.
#include <polder/ds/stack/elimination_backoff_stack.hpp>

#include <polder/ds/collection_suite_test.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(elimination_backoff_stack, elimination_backoff_stack);

// With whatever room to meet and patience: what four threads put and get adds up.
TEST(elimination_backoff_stack, parameters) {
  for (const unsigned collisions : {1u, 4u}) {
    for (const unsigned delay : {0u, 1u, 100'000u}) {
      eager::drained<smr::debra> domain;
      elimination_backoff_stack<long, smr::debra> stack(domain, collisions, delay);
      atomic<long> balance{0};
      std::vector<std::thread> threads;
      for (long t = 0; t != 4; ++t) {
        threads.emplace_back([&, t] {
          for (long i = 1; i != 1000; ++i) {
            stack.push(t * 1000 + i);
            balance.fetch_add(t * 1000 + i - stack.pop().value(), order::relaxed);
          }
        });
      }
      for (std::thread& t : threads) t.join();
      EXPECT_EQ(balance.load(order::relaxed), 0);
      EXPECT_FALSE(stack.pop().has_value());
    }
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
