// The order in which a seat's slots are looked at: by rows, by guards that close in any order, while a guard takes over what
// an older one keeps.
#include <polder/smr/slot_seat.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <polder/smr/all.hpp>

namespace polder::smr {
namespace {

struct node : hazard::header {};
using guard = hazard::guard<6>;

class slot_seats : public ::testing::Test {
 protected:
  // A look that comes to each slot in turn, while between two of them, once, `step` is done: does it see p?
  template <class Step>
  bool seen_by_a_look(unsigned after, Step&& step) {
    unsigned n = 0;
    bool seen = false;
    d.scheme().each_slot(d.members(), [&](const hazard_slot& s) {
      seen = seen || s.read() == &p;
      if (n++ == after) step();
    });
    return seen;
  }
  // The same, whenever `to` takes over p from `from` and that looks at something else.
  void seen_whenever_it_is_handed(guard& from, guard& to) {
    for (unsigned after = 0; after != d.scheme().slots(); ++after) {
      static_cast<void>(from.protect(0, source));
      to.clear(0);
      EXPECT_TRUE(seen_by_a_look(after, [&] {
        to.hold(0, &p);
        static_cast<void>(from.protect(0, other));
      })) << after;
    }
    from.clear(0), to.clear(0);
  }

  hazard::domain d;
  node p, q;
  atomic<node*> source{&p}, other{&q};
};

TEST_F(slot_seats, are_looked_at_from_the_oldest_guard_to_the_youngest) {
  guard a(d), b(d), c(d), e(d);
  seen_whenever_it_is_handed(a, b);
  seen_whenever_it_is_handed(b, c);
  seen_whenever_it_is_handed(c, e);
}

// A guard that needs no more slots than the seat has left.
TEST_F(slot_seats, give_a_small_guard_none_before_an_older_one) {
  guard a(d), b(d);
  hazard::guard<1> small(d);
  const auto hand = [&] {
    small.hold(0, &p);
    static_cast<void>(b.protect(0, other));
  };
  for (unsigned after = 0; after != d.scheme().slots(); ++after) {
    small.clear(0);
    static_cast<void>(b.protect(0, source));
    EXPECT_TRUE(seen_by_a_look(after, hand)) << after;
  }
}

// Two guards at least are always open, and the older is the one that closes: rows are used again, and nothing is missed.
TEST_F(slot_seats, of_guards_that_close_in_the_order_they_were_opened) {
  std::unique_ptr<guard> older = std::make_unique<guard>(d);
  for (int n = 0; n != 100; ++n) {
    std::unique_ptr<guard> younger = std::make_unique<guard>(d);
    seen_whenever_it_is_handed(*older, *younger);
    older = std::move(younger);
  }
  EXPECT_LE(d.scheme().slots(), 8u * 4);
}

}  // namespace
}  // namespace polder::smr
