// split_ordered_map under what is asked of every map, and its table, which grows.
#include <polder/ds/tree/split_ordered_map.hpp>

#include <cstdint>

#include <polder/ds/tree/map_suite_test.hpp>

namespace polder::ds::map_suite {
namespace {

template <class K, class V, class R>
using split_ordered_map_of = split_ordered_map<K, V, R>;
POLDER_MAP_SUITE(split_ordered_map, split_ordered_map_of);

TEST(split_ordered_map, grows_with_its_keys_and_keeps_them) {
  drained<eager::leaky> domain;
  split_ordered_map<long, long, eager::leaky> m(domain);
  const std::size_t at_first = m.buckets();
  for (const long step : {1l, 64l, 4096l}) {  // whatever bits the keys differ in
    for (long i = 1; i != 3000; ++i) m.insert(i * step, i);
  }
  const std::size_t keys = m.size_slow();
  ASSERT_GT(m.buckets(), at_first);
  EXPECT_GE(m.buckets(), keys / 4);
  EXPECT_LE(m.buckets(), keys * 4);
  for (long i = 1; i != 3000; ++i) ASSERT_TRUE(m.contains(i * 4096));
  m.validate();

  // Erasing and inserting the same over and over is not growth.
  const std::size_t grown = m.buckets();
  for (int round = 0; round != 50; ++round) {
    for (long i = 1; i != 1000; ++i) {
      ASSERT_TRUE(m.erase(i));
      ASSERT_TRUE(m.insert(i, i));
    }
  }
  EXPECT_EQ(m.buckets(), grown);
  m.validate();
}

// Keys in whose hashes most bits are alike: each set alone, since one that is counted whole hides one that is not counted.
TEST(split_ordered_map, grows_with_its_keys_whatever_bits_they_differ_in) {
  constexpr long keys = 3000;
  for (const unsigned shift : {0u, 8u, 16u, 24u, 28u, 32u, 40u, 48u}) {
    for (const long low : {0l, 1l, 5l}) {
      drained<eager::leaky> domain;
      split_ordered_map<long, long, eager::leaky> m(domain);
      for (long i = 1; i <= keys; ++i) ASSERT_TRUE(m.insert(long(std::uint64_t(i) << shift) + low, i));
      EXPECT_GE(m.buckets(), keys / 4) << "i << " << shift << " + " << low;
      EXPECT_LE(m.buckets(), keys * 4) << "i << " << shift << " + " << low;
    }
  }
}

}  // namespace
}  // namespace polder::ds::map_suite
