// random_distributed under what is asked of every collection, and its balancer.
#include <polder/ds/pool/random_distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <polder/ds/collection_suite_test.hpp>

namespace polder::ds::collection_suite {
namespace {

POLDER_COLLECTION_SUITE(dq_1random, dq_1random);
POLDER_COLLECTION_SUITE(dq_2random, dq_2random);
POLDER_COLLECTION_SUITE(ds_1random, ds_1random);
POLDER_COLLECTION_SUITE(ds_2random, ds_2random);

using long_dq = dq_1random<long, smr::debra>;

TEST(random_distributed, none_backend_is_refused) {
  drained<smr::debra> d;
  EXPECT_THROW(long_dq(d, 0), std::invalid_argument);
  EXPECT_EQ(long_dq(d, balancer::papers_backends).p(), 80u);
  EXPECT_GE(long_dq(d).p(), 2u);
}

// Lengths that are only remembered, and what a backend's length is.
struct lengths {
  std::vector<std::uint64_t> of;
  struct one {
    std::uint64_t n;
    std::uint64_t length() const { return n; }
  };
  std::size_t size() const { return of.size(); }
  one operator[](std::size_t i) const { return {of[i]}; }
};

TEST(random_distributed, every_backend_is_drawn) {
  balancer::d_random<1> one(7);
  lengths all{std::vector<std::uint64_t>(7)};
  for (int i = 0; i != 2000; ++i) ++all.of[one.put_at(all)];
  EXPECT_GT(*std::min_element(all.of.begin(), all.of.end()), 0u);
}

TEST(random_distributed, of_many_draws_put_takes_the_shortest_and_get_the_longest) {
  balancer::d_random<200> many(3);
  lengths all{{5, 1, 9}};
  EXPECT_EQ(many.put_at(all), 1u);
  EXPECT_EQ(many.get_at(all), 2u);
}

template <class B>
void counts_its_elements() {
  drained<smr::debra> d;
  B b(d);
  for (std::uint64_t n = 0; n != 5; ++n) {
    EXPECT_EQ(b.length(), n);
    b.put(long(n));
  }
  for (std::uint64_t n = 5; n != 0; --n) {
    EXPECT_EQ(b.length(), n);
    b.get();
  }
  EXPECT_EQ(b.length(), 0u);
}
TEST(random_distributed, a_backend_knows_its_length) {
  counts_its_elements<ms_queue<long, smr::debra, heap_memory, counted_place>>();
  counts_its_elements<treiber_stack<long, smr::debra, heap_memory, counted_place>>();
}

// The number that an empty backend shows is another after each put that found it empty.
template <class B>
void numbers_its_emptiness() {
  drained<smr::debra> d;
  B b(d);
  std::uint64_t first = 0, again = 0, later = 0;
  EXPECT_FALSE(b.remove(first));
  EXPECT_FALSE(b.remove(again));
  EXPECT_EQ(first, again);
  b.put(1);
  b.get();
  EXPECT_FALSE(b.remove(later));
  EXPECT_GT(later, first);
}
TEST(random_distributed, emptiness_is_numbered) {
  numbers_its_emptiness<ms_queue<long, smr::debra, heap_memory, counted_place>>();
  numbers_its_emptiness<treiber_stack<long, smr::debra>>();
}

}  // namespace
}  // namespace polder::ds::collection_suite
