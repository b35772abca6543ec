// blocking, of an element whose move throws: whichever move of a get it is, what was inside stays inside.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>

#include <polder/ds/blocking.hpp>
#include <polder/ds/queue/vyukov_ring.hpp>
#include <polder/ds/tree/eager_test.hpp>

namespace polder::ds {
namespace {

using namespace std::chrono_literals;

// An element whose nth move from now on throws.
struct moody {
  static inline int moves_left = 0;
  long n;
  explicit moody(long i) : n(i) {}
  moody(moody&& other) : n(other.n) {
    if (moves_left != 0 && --moves_left == 0) throw std::runtime_error("not now");
  }
};
using ring = blocking<vyukov_ring<moody, eager::leaky>>;

template <class Get>
void stays_inside(Get&& get) {
  for (int n = 1; n != 5; ++n) {
    ring r(8);
    ASSERT_TRUE(r.put(moody(1)));
    moody::moves_left = n;
    bool threw = false;
    try {
      EXPECT_EQ(get(r)->n, 1);
    } catch (const std::runtime_error&) {
      threw = true;
    }
    moody::moves_left = 0;
    EXPECT_EQ(r.get().has_value(), threw) << "move " << n << " of a get threw";
  }
}

TEST(blocking_throwing, what_get_cannot_hand_over_stays_inside) {
  stays_inside([](ring& r) { return r.get(); });
}

TEST(blocking_throwing, what_a_wait_cannot_hand_over_stays_inside) {
  stays_inside([](ring& r) { return r.wait_get(); });
  stays_inside([](ring& r) { return r.get_for(0s); });
  stays_inside([](ring& r) {
    r.close();
    return r.wait_get();
  });
}

}  // namespace
}  // namespace polder::ds
