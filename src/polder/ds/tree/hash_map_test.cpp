// hash_map under what is asked of every map, and its buckets.
#include <polder/ds/tree/hash_map.hpp>

#include <polder/ds/tree/map_suite_test.hpp>

namespace polder::ds::map_suite {
namespace {

template <class K, class V, class R>
using hash_map_of = hash_map<K, V, R>;
POLDER_MAP_SUITE(hash_map, hash_map_of);

// In memory, with keys and values of eight bytes and a reclaimer that needs no header.
static_assert(sizeof(hash_map<long, long, eager::leaky>::node) == 24);
static_assert(sizeof(hash_map<long, nothing, eager::leaky>::node) == 16);

TEST(hash_map, buckets_are_a_power_of_two_and_all_are_used) {
  drained<eager::leaky> domain;
  for (const std::size_t asked : {0u, 1u, 2u, 3u, 1000u}) {
    hash_map<long, long, eager::leaky> m(domain, asked);
    ASSERT_TRUE(is_power_of_two(m.buckets()));
    ASSERT_GE(m.buckets(), 2 * asked);
    ASSERT_LE(m.buckets(), asked < 2 ? 2 : 4 * asked);
    for (long i = 0; i != 500; ++i) ASSERT_TRUE(m.insert(i, i));
    m.validate();
    ASSERT_EQ(m.size_slow(), 500u);
  }
}

TEST(hash_map, more_buckets_than_there_is_memory_for_are_refused) {
  drained<eager::leaky> domain;
  using map = hash_map<long, long, eager::leaky>;
  EXPECT_THROW(map(domain, ~std::size_t{0}), std::bad_alloc);
  EXPECT_THROW(map(domain, std::size_t{1} << 63), std::bad_alloc);
}

}  // namespace
}  // namespace polder::ds::map_suite
