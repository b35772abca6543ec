// round_robin_distributed under what is asked of every collection, and its balancer.
#include <polder/ds/pool/round_robin_distributed.hpp>

#include <gtest/gtest.h>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(dq_1rr, dq_1rr);
POLDER_COLLECTION_SUITE(ds_1rr, ds_1rr);

template <class T, class R, class Memory>
using dq_2rr = distributed<T, R, Memory, round_robin_queues<2>>;
POLDER_COLLECTION_SUITE(dq_2rr, dq_2rr);

TEST(round_robin_distributed, alone_the_queue_is_in_order_while_it_is_not_empty) {
  drained<smr::debra> d;
  dq_1rr<long, smr::debra> q(d, 3);
  for (long i = 0; i != 10; ++i) q.put(i);
  for (long i = 0; i != 1000; ++i) {
    EXPECT_EQ(q.get(), i);
    q.put(i + 10);
  }
}

}  // namespace
}  // namespace polder::ds::collection_suite
