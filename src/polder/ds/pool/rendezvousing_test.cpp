// rendezvousing under what is asked of every collection, and that a put and a get do meet.
#include <polder/ds/pool/rendezvousing.hpp>

#include <gtest/gtest.h>

#include <thread>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(rendezvousing, rendezvousing);

TEST(rendezvousing, a_ring_without_slots_is_refused) {
  drained<smr::debra> d;
  EXPECT_THROW((rendezvousing<long, smr::debra>(d, 0)), std::invalid_argument);
}

TEST(rendezvousing, who_waits_is_met) {
  drained<smr::debra> d;
  rendezvousing<long, smr::debra, scarce_memory> pool(d, 3, 4'000'000'000);
  for (long i = 0; i != 20; ++i) {
    std::optional<long> got;
    std::thread getter([&] { got = pool.get(); });
    while (!pool.awaited()) std::this_thread::yield();
    pool.put(i);
    getter.join();
    ASSERT_EQ(got, i);
    ASSERT_FALSE(pool.awaited());
  }
}

TEST(rendezvousing, who_is_not_met_withdraws) {
  drained<smr::debra> d;
  rendezvousing<long, smr::debra> pool(d, 1, 10);
  EXPECT_FALSE(pool.get());
  EXPECT_FALSE(pool.awaited());
  pool.put(1);
  EXPECT_EQ(pool.get(), 1);
}

}  // namespace
}  // namespace polder::ds::collection_suite
