// blocking, of an element whose move throws: whichever move of a get it is, what was inside stays inside.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

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

// An element that is not to be had, once somebody says so.
struct withdrawn {
  static inline atomic<bool> now{false};
  bool can_be = true;
  withdrawn(bool b) : can_be(b) {}
  withdrawn(withdrawn&& other) : can_be(other.can_be) {
    if (can_be && now.load(order::acquire)) throw std::runtime_error("withdrawn");
  }
};

// Three wait for room. There is room for two, but those give up: the third is woken in their place.
TEST(blocking_throwing, who_waits_for_room_and_throws_wakes_the_next) {
  blocking<vyukov_ring<withdrawn, eager::leaky>> r(2);
  withdrawn::now.store(false, order::relaxed);
  while (r.put(withdrawn(false))) {
  }
  std::vector<std::thread> waiting;
  for (const bool gives_up : {true, true, false}) {
    waiting.emplace_back([&r, gives_up] {
      try {
        EXPECT_TRUE(r.wait_put(withdrawn(gives_up)));
        EXPECT_FALSE(gives_up);
      } catch (const std::runtime_error&) {
        EXPECT_TRUE(gives_up);
      }
    });
    std::this_thread::sleep_for(20ms);  // so that it is asleep, most likely, and the first that is woken
  }
  withdrawn::now.store(true, order::release);
  EXPECT_TRUE(r.get().has_value());
  EXPECT_TRUE(r.get().has_value());
  for (std::thread& t : waiting) t.join();
  EXPECT_TRUE(r.get().has_value());
  EXPECT_FALSE(r.get().has_value());
}

}  // namespace
}  // namespace polder::ds
