// mpsc_list under what is asked of every collection, and each putter's order.
#include <polder/ds/queue/mpsc_list.hpp>

#include <gtest/gtest.h>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/producers_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(mpsc_list, mpsc_list);

TEST(mpsc_list, keeps_the_order_of_each_putter) {
  mpsc_list<long, smr::leaky> q;
  EXPECT_TRUE(in_order_of_putters(q, 3, 1, 10'000));
  EXPECT_FALSE(q.dequeue().has_value());
}

}  // namespace
}  // namespace polder::ds::collection_suite
