// spsc_ring in bulk, from where a copy throws.
#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <polder/ds/queue/spsc_ring.hpp>
#include <polder/ds/tree/eager_test.hpp>

namespace polder::ds {
namespace {

// An element that is made from what may throw.
struct made_from {
  static inline long alive = 0;
  const long n;
  made_from(long i) : n(i) {
    if (i < 0) throw std::runtime_error("none");
    ++alive;
  }
  made_from(made_from&& other) noexcept : n(other.n) { ++alive; }
  ~made_from() { --alive; }
};

TEST(spsc_ring_throwing, what_was_put_before_a_copy_threw_is_inside) {
  for (const long bad : {0L, 1L, 6L}) {
    {
      spsc_ring<made_from, eager::leaky> ring(8);
      std::vector<long> from(8);
      std::iota(from.begin(), from.end(), 0);
      from[std::size_t(bad)] = -1;
      if (bad == 0) {
        EXPECT_THROW(ring.put_bulk(from.cbegin(), from.size()), std::runtime_error);
      } else {
        EXPECT_EQ(ring.put_bulk(from.cbegin(), from.size()), std::size_t(bad));
      }
      EXPECT_EQ(made_from::alive, bad);
      for (long i = 0; i != bad; ++i) {
        const auto e = ring.get();
        ASSERT_TRUE(e.has_value());
        EXPECT_EQ(e->n, i);
      }
      EXPECT_FALSE(ring.get().has_value());
    }
    EXPECT_EQ(made_from::alive, 0);
  }
}

}  // namespace
}  // namespace polder::ds
