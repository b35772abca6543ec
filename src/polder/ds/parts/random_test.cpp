// random: repeats from a seed, differs between threads, reaches every place.
#include <polder/ds/parts/random.hpp>

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace polder::ds {
namespace {

std::vector<std::uint32_t> some() {
  std::vector<std::uint32_t> drawn(100);
  for (std::uint32_t& r : drawn) r = random::next();
  return drawn;
}

TEST(random, repeats_from_a_seed) {
  for (const std::uint64_t s : {0ull, 1ull, ~0ull}) {
    random::seed(s);
    const auto first = some();
    random::seed(s);
    EXPECT_EQ(some(), first);
  }
}

TEST(random, threads_differ) {
  std::set<std::vector<std::uint32_t>> all;
  for (int t = 0; t != 20; ++t) std::thread([&] { all.insert(some()); }).join();
  EXPECT_EQ(all.size(), 20u);
}

TEST(random, every_place_comes_up_about_as_often) {
  random::seed(3);
  for (const std::uint32_t n : {1u, 2u, 7u, 80u}) {
    std::vector<unsigned> times(n);
    for (unsigned i = 0; i != 1000 * n; ++i) ++times.at(random::below(n));
    for (const unsigned t : times) {
      EXPECT_GT(t, 800u);
      EXPECT_LT(t, 1200u);
    }
  }
}

}  // namespace
}  // namespace polder::ds
