// Maps of values whose copies throw: what could not be taken is there as before, and nothing else is lost.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include <polder/ds/tree/abtree.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/ds/tree/ellen_bst.hpp>
#include <polder/ds/tree/hash_map.hpp>
#include <polder/ds/tree/list_set.hpp>
#include <polder/ds/tree/occ_avl.hpp>
#include <polder/ds/tree/skip_list.hpp>
#include <polder/ds/tree/split_ordered_map.hpp>

namespace polder::ds {
namespace {

struct fragile {
  static constexpr long never = std::numeric_limits<long>::max();
  static inline long alive = 0, copies_left = never;  // then they throw
  long n;
  fragile(long i = 0) : n(i) { ++alive; }
  fragile(const fragile& other) : n(other.n) {
    if (copies_left == 0) throw std::runtime_error("a copy");
    --copies_left;
    ++alive;
  }
  fragile& operator=(const fragile&) = delete;
  ~fragile() { --alive; }
};

// Calls f, in which copies after the first so many throw. Whether one did.
template <class F>
bool throws_after(long copies, F&& f) {
  fragile::copies_left = copies;
  bool thrown = false;
  try {
    f();
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  fragile::copies_left = fragile::never;
  return thrown;
}

template <class Map>
class throwing_copies : public ::testing::Test {};
using R = eager::region;
using maps =
    ::testing::Types<list_set<long, fragile, R>, list_set<long, fragile, eager::hazard>, hash_map<long, fragile, R>,
                     split_ordered_map<long, fragile, R>, skip_list<long, fragile, R>, ellen_bst<long, fragile, R>,
                     occ_avl<long, fragile, R>, abtree<long, fragile, R>>;
TYPED_TEST_SUITE(throwing_copies, maps);

TYPED_TEST(throwing_copies, leave_what_was_to_be_taken) {
  {
    eager::drained<typename TypeParam::reclaimer_type> domain;
    TypeParam m(domain);
    constexpr long keys = 50;
    for (long k = 0; k != keys; ++k) ASSERT_TRUE(m.insert(k, fragile(k)));
    for (long k = 0; k != keys; ++k) {
      ASSERT_TRUE(throws_after(0, [&] { m.take(k); }));
      ASSERT_TRUE(m.contains(k)) << k;
      const auto taken = m.take(k);
      ASSERT_TRUE(taken.has_value() && taken->n == k) << k;
      ASSERT_FALSE(m.take(k).has_value());
    }
    m.validate();
    ASSERT_EQ(m.size_slow(), 0u);
  }
  ASSERT_EQ(fragile::alive, 0);
}

// With two or three children a node nearly each update splits or joins, and copies values that it does not insert.
TEST(throwing_copies_of_abtree, leave_an_update_done_or_not_begun) {
  {
    eager::drained<R> domain;
    constexpr long keys = 64;
    for (long copies = 0; copies != 12; ++copies) {
      abtree<long, fragile, R, 2, 3> m(domain);
      unsigned done = 0;
      for (long k = 0; k != keys; ++k) {
        bool in = false;
        const bool thrown = throws_after(copies, [&] { in = m.insert(k, fragile(k)); });
        ASSERT_EQ(in, !thrown);
        ASSERT_EQ(m.contains(k), in);
        ASSERT_EQ(m.insert(k, fragile(k)), !in);
        done += in;
      }
      for (long k = 0; k != keys; ++k) {
        const long key = k * 37 % keys;
        bool out = false;
        const bool thrown = throws_after(copies, [&] { out = m.erase(key); });
        ASSERT_EQ(out, !thrown);
        ASSERT_EQ(m.contains(key), !out);
        ASSERT_EQ(m.erase(key), !out);
        done += out;
      }
      ASSERT_EQ(m.size_slow(), 0u);
      ASSERT_TRUE(copies < 6 || done != 0);
    }
  }
  ASSERT_EQ(fragile::alive, 0);
}

}  // namespace
}  // namespace polder::ds
