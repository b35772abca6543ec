// hash_map under what is asked of every map, and its buckets.
#include <polder/ds/tree/hash_map.hpp>

#include <cstdint>

#include <polder/ds/tree/map_suite_test.hpp>
#include <polder/ds/tree/split_ordered_map.hpp>

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

// The multiplier's bits that fit, so about half of the hashes are less than 0 where they may be.
template <class Word>
struct hash_in_a {
  Word operator()(long k) const noexcept { return static_cast<Word>(static_cast<std::uint64_t>(k) * 0x9e37'79b1); }
};

template <class Word>
void hashes_may_be_in_a() {
  EXPECT_EQ(hash_of<hash_in_a<Word>>(3l) >> (64 - 8 * sizeof(Word)),
            static_cast<std::make_unsigned_t<Word>>(hash_in_a<Word>{}(3l)));
  constexpr long keys = 1000;
  const auto keeps = [](auto& m) {
    for (long i = 0; i != keys; ++i) ASSERT_TRUE(m.insert(i, i));
    for (long i = 0; i != keys; ++i) ASSERT_EQ(m.get(i), i);
    m.validate();
    for (long i = 0; i != keys; ++i) ASSERT_TRUE(m.erase(i));
  };
  drained<eager::leaky> domain;
  hash_map<long, long, eager::leaky, hash_in_a<Word>> fixed(domain, keys);
  keeps(fixed);
  split_ordered_map<long, long, eager::leaky, hash_in_a<Word>> growing(domain);
  keeps(growing);
}
TEST(hash_map, hashes_may_have_fewer_bits_than_64_and_a_sign) {
  hashes_may_be_in_a<std::uint64_t>();
  hashes_may_be_in_a<std::int64_t>();
  hashes_may_be_in_a<std::uint32_t>();
  hashes_may_be_in_a<int>();
  hashes_may_be_in_a<std::uint16_t>();
  hashes_may_be_in_a<signed char>();
}

}  // namespace
}  // namespace polder::ds::map_suite
