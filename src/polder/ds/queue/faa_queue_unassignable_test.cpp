// faa_queue, of elements that can be moved as they are made, but not assigned: also where a put takes its element back.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <utility>

#include <polder/ds/parts/claimed_cells.hpp>
#include <polder/ds/queue/faa_queue.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/smr/fences.hpp>

namespace polder::ds {
namespace {

struct fixed {
  static inline long alive = 0;
  const long n;
  explicit fixed(long i) : n(i) { ++alive; }
  fixed(fixed&& other) noexcept : n(other.n) { ++alive; }
  ~fixed() { --alive; }
};
struct hard_to_assign {
  static inline long alive = 0;
  long n;
  explicit hard_to_assign(long i) : n(i) { ++alive; }
  hard_to_assign(hard_to_assign&& other) noexcept : n(other.n) { ++alive; }
  hard_to_assign& operator=(hard_to_assign&&) { throw std::runtime_error("an assignment"); }
  ~hard_to_assign() { --alive; }
};

// eager::region, but something may happen before a node is made.
struct interrupted : eager::region {
  static inline std::function<void()> meanwhile;
  template <unsigned Slots>
  class guard : public eager::region::guard<Slots> {
    using base = eager::region::guard<Slots>;

   public:
    using base::base;
    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      return base::template make<T>(std::forward<Arguments>(arguments)...);
    }
  };
};

template <class T>
class faa_queue_unassignable : public ::testing::Test {};
using elements = ::testing::Types<fixed, hard_to_assign>;
TYPED_TEST_SUITE(faa_queue_unassignable, elements);

TYPED_TEST(faa_queue_unassignable, comes_back_from_a_spoiled_cell) {
  smr::fences fences;
  {
    claimed_cells<TypeParam, 4> c;
    ASSERT_FALSE(c.wait(0, 1, fences));
    TypeParam e(7);
    ASSERT_FALSE(c.fill(0, e, fences));
    EXPECT_EQ(e.n, 7);
    EXPECT_EQ(TypeParam::alive, 1);
  }
  EXPECT_EQ(TypeParam::alive, 0);
}

// Two find the segment full and make the next; the first has made its own when the second's is linked.
TYPED_TEST(faa_queue_unassignable, comes_back_from_a_segment_that_was_not_linked) {
  {
    eager::drained<interrupted> d;
    faa_queue<TypeParam, interrupted> q(d);
    const long all = long(q.cells) + 3;
    for (long i = 0; i != long(q.cells); ++i) q.put(TypeParam(i));
    interrupted::meanwhile = [&] { q.put(TypeParam(all - 3)); };
    q.put(TypeParam(all - 2));
    q.put(TypeParam(all - 1));
    for (long i = 0; i != all; ++i) {
      const auto e = q.get();
      ASSERT_TRUE(e.has_value());
      ASSERT_EQ(e->n, i);
    }
    EXPECT_FALSE(q.get().has_value());
  }
  EXPECT_EQ(TypeParam::alive, 0);
}

}  // namespace
}  // namespace polder::ds
