// spsc_ring in bulk, from where a copy throws.
#include <gtest/gtest.h>

#include <polder/ds/queue/put_bulk_test.hpp>
#include <polder/ds/queue/spsc_ring.hpp>
#include <polder/ds/tree/eager_test.hpp>

namespace polder::ds {
namespace {

TEST(spsc_ring_throwing, what_was_put_before_a_copy_threw_is_inside) {
  for (const long bad : {0L, 1L, 6L}) {
    {
      spsc_ring<made_from, eager::leaky> ring(8);
      expect_what_was_put_before_a_copy_threw(ring, 8, bad);
    }
    EXPECT_EQ(made_from::alive, 0);
  }
}

}  // namespace
}  // namespace polder::ds
