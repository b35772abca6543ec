#pragma once
// put_bulk — from where making an element throws, for the tests of what has it.
#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace polder::ds {

// An element that is made from what may throw; it is not assigned.
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

// Puts `many`, of which number `bad` cannot be made: those before it are inside.
template <class Queue>
void expect_what_was_put_before_a_copy_threw(Queue& q, std::size_t many, long bad) {
  std::vector<long> from(many);
  std::iota(from.begin(), from.end(), 0);
  from[std::size_t(bad)] = -1;
  if (bad == 0) {
    EXPECT_THROW(q.put_bulk(from.cbegin(), from.size()), std::runtime_error);
  } else {
    EXPECT_EQ(q.put_bulk(from.cbegin(), from.size()), std::size_t(bad));
  }
  EXPECT_EQ(made_from::alive, bad);
  for (long i = 0; i != bad; ++i) {
    const auto e = q.get();
    ASSERT_TRUE(e.has_value());
    EXPECT_EQ(e->n, i);
  }
  EXPECT_FALSE(q.get().has_value());
}

}  // namespace polder::ds
