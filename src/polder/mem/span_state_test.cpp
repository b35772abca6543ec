#include <polder/mem/span_state.hpp>

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace polder::mem {
namespace {

using s = span_state;
constexpr s all[] = {s::free, s::hot, s::partial, s::full};

TEST(span_state, has_exactly_the_arrows_of_its_drawing) {
  const std::set<std::pair<s, s>> drawn = {
      {s::free, s::hot},    {s::hot, s::free},     {s::hot, s::partial},  {s::hot, s::full},
      {s::partial, s::hot}, {s::partial, s::free}, {s::full, s::partial},
  };
  for (s from : all) {
    for (s to : all) EXPECT_EQ(drawn.contains({from, to}), legal(from, to)) << int(from) << " -> " << int(to);
  }
}

TEST(span_state, zeroed_memory_is_free) { EXPECT_EQ(s::free, s{}); }

}  // namespace
}  // namespace polder::mem
