// lru_ds under what is asked of every collection, and how far out of order it comes.
#include <polder/ds/stack/lru_ds.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(lru_ds, lru_ds);

TEST(lru_ds, one_backend_is_a_stack) {
  drained<smr::debra> d;
  lru_ds<long, smr::debra> s(d, 1);
  ASSERT_EQ(s.k(), 0u);
  for (long i = 0; i != 100; ++i) s.push(i);
  for (long i = 100; i != 0; --i) ASSERT_EQ(s.pop(), i - 1);
  ASSERT_FALSE(s.pop());
}

TEST(lru_ds, none_backend_is_refused) {
  drained<smr::debra> d;
  EXPECT_THROW((lru_ds<long, smr::debra>(d, 0)), std::invalid_argument);
}

// The bound is not far from what happens.
TEST(lru_ds, what_overtakes_is_within_the_bound_and_more_than_half_of_it) {
  for (const std::size_t p : {2u, 3u, 4u}) {
    drained<smr::debra> d;
    lru_ds<long, smr::debra> s(d, p);
    std::mt19937_64 random(p);
    std::vector<long> inside;
    std::size_t most = 0;
    for (long i = 0; i != 20'000; ++i) {
      if (random() % 2 == 0 || inside.empty()) {
        s.push(i);
        inside.push_back(i);
      } else {
        const auto at = std::find(inside.begin(), inside.end(), s.pop().value());
        most = std::max(most, std::size_t(inside.end() - at) - 1);
        inside.erase(at);
      }
    }
    std::printf("p = %zu: %zu of at most %zu\n", p, most, s.k());
    EXPECT_LE(most, s.k());
    EXPECT_GT(2 * most, s.k());
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
