// spsc_ring under what is asked of every collection, in order between two threads, and in bulk.
#include <polder/ds/queue/spsc_ring.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(spsc_ring, spsc_ring);

using ring = spsc_ring<long, smr::leaky>;

TEST(spsc_ring, holds_what_its_capacity_says) {
  for (const std::size_t asked : {1, 2, 5}) {
    ring r(asked);
    for (std::size_t i = 0; i != r.capacity(); ++i) ASSERT_TRUE(r.put(long(i)));
    ASSERT_FALSE(r.put(-1));
    for (std::size_t i = 0; i != r.capacity(); ++i) ASSERT_EQ(*r.get(), long(i));
    ASSERT_FALSE(r.get().has_value());
  }
  EXPECT_EQ(ring(5).capacity(), 8u);
  EXPECT_THROW(ring(0), std::invalid_argument);
}

TEST(spsc_ring, in_order_between_two_threads_in_bulk_and_one_by_one) {
  constexpr long all = 20'000;
  ring r(16);
  std::thread putter([&] {
    std::vector<long> some;
    for (long next = 0; next != all;) {
      if (next % 3 == 0) {
        if (r.put(next)) ++next;
        else std::this_thread::yield();
      } else {
        some.clear();
        for (long i = next; i != std::min(all, next + 7); ++i) some.push_back(i);
        const std::size_t n = r.put_bulk(some.begin(), some.size());
        if (n == 0) std::this_thread::yield();
        next += long(n);
      }
    }
  });
  bool in_order = true;
  std::vector<long> some(5);
  for (long next = 0; next != all;) {
    if (next % 2 == 0) {
      if (const std::optional<long> n = r.get()) in_order &= *n == next++;
      else std::this_thread::yield();
    } else {
      const std::size_t n = r.get_bulk(some.begin(), some.size());
      if (n == 0) std::this_thread::yield();
      for (std::size_t i = 0; i != n; ++i) in_order &= some[i] == next++;
    }
  }
  putter.join();
  EXPECT_TRUE(in_order);
  EXPECT_FALSE(r.get().has_value());
}

TEST(spsc_ring, bulk_takes_what_fits) {
  spsc_ring<std::unique_ptr<long>, smr::leaky> r(4);
  std::vector<std::unique_ptr<long>> in;
  for (long i = 0; i != 6; ++i) in.push_back(std::make_unique<long>(i));
  ASSERT_EQ(r.put_bulk(in.begin(), in.size()), 4u);
  ASSERT_TRUE(in[3] == nullptr && in[4] != nullptr);
  std::vector<std::unique_ptr<long>> out(6);
  ASSERT_EQ(r.get_bulk(out.begin(), 3), 3u);
  ASSERT_EQ(r.get_bulk(out.begin() + 3, 3), 1u);
  ASSERT_EQ(r.get_bulk(out.begin() + 4, 3), 0u);
  for (long i = 0; i != 4; ++i) ASSERT_EQ(*out[std::size_t(i)], i);
}

}  // namespace
}  // namespace polder::ds::collection_suite
