// bag under what is asked of every collection.
#include <polder/ds/pool/bag.hpp>

#include <gtest/gtest.h>

#include <thread>

#include <polder/ds/collection_suite_test.hpp>
#include <polder/ds/putting_destructor_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(bag, bag);

TEST(bag, a_memory_request_serves_64_puts) {
  drained<smr::debra> d;
  const long before = scarce_memory::used.load(order::relaxed);
  bag<long, smr::debra, scarce_memory> b(d);
  for (long i = 0; i != 64; ++i) b.put(i);
  EXPECT_EQ(scarce_memory::used.load(order::relaxed), before + 1);
  b.put(64);
  EXPECT_EQ(scarce_memory::used.load(order::relaxed), before + 2);
}

template <class T, class R>
using bag_of = bag<T, R>;
TEST(bag, loses_nothing_that_destructors_put) { loses_nothing_that_destructors_put<bag_of>(); }

TEST(bag, thieves_find_what_a_thread_left) {
  drained<smr::debra> d;
  bag<long, smr::debra> b(d);
  b.put(5000);  // before the other's, lest this thread get its number and its list
  std::thread([&] {
    for (long i = 0; i != 1000; ++i) b.put(i);
  }).join();
  EXPECT_EQ(b.get(), 5000);  // its own first
  long sum = 0;
  for (long i = 0; i != 1000; ++i) sum += b.get().value();
  EXPECT_EQ(sum, 999 * 1000 / 2);
  EXPECT_FALSE(b.get());
}

}  // namespace
}  // namespace polder::ds::collection_suite
