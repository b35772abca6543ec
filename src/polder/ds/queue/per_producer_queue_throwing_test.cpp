// per_producer_queue in bulk: to where an assignment throws, and from where a copy does.
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>

#include <polder/ds/queue/per_producer_queue.hpp>
#include <polder/ds/queue/put_bulk_test.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds {
namespace {

struct counted {
  static inline long alive = 0;
  long n;
  explicit counted(long i) : n(i) { ++alive; }
  counted(counted&& other) noexcept : n(other.n) { ++alive; }
  counted& operator=(counted&&) = default;
  ~counted() { --alive; }
};

// Takes some, then throws.
struct narrow {
  long& room;
  narrow& operator*() { return *this; }
  narrow& operator++() { return *this; }
  narrow& operator=(counted&&) {
    if (room-- == 0) throw std::runtime_error("full");
    return *this;
  }
};

TEST(per_producer_queue_throwing, what_was_claimed_is_destroyed_and_the_rest_stays) {
  {
    eager::drained<smr::debra> d;
    per_producer_queue<counted, smr::debra> q(d);
    for (long i = 0; i != 10; ++i) q.put(counted(i));
    long room = 2;
    EXPECT_THROW(q.get_bulk(narrow{room}, 7), std::runtime_error);
    EXPECT_EQ(counted::alive, 3);
    for (long i = 7; i != 10; ++i) {
      const auto e = q.get();
      ASSERT_TRUE(e.has_value());
      EXPECT_EQ(e->n, i);
    }
    EXPECT_FALSE(q.get().has_value());
  }
  EXPECT_EQ(counted::alive, 0);
}

TEST(per_producer_queue_throwing, what_was_put_before_a_copy_threw_is_inside) {
  constexpr std::size_t many = 1000;  // more than a segment
  for (const long bad : {0L, 1L, 511L, 512L, 513L, 999L}) {
    {
      eager::drained<smr::debra> d;
      per_producer_queue<made_from, smr::debra> q(d);
      expect_what_was_put_before_a_copy_threw(q, many, bad);
      q.put(made_from(7));
      q.put(made_from(8));
      EXPECT_EQ(q.get()->n, 7);
    }
    EXPECT_EQ(made_from::alive, 0);
  }
}

}  // namespace
}  // namespace polder::ds
