#include <polder/mem/poisson.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace polder::mem {
namespace {

TEST(poisson, the_logarithm_is_one) {
  for (double x = 1; x < 2; x += 1.0 / 512) EXPECT_NEAR(std::log(x), logarithm_of_mantissa(x), 1e-6) << x;
}

TEST(poisson, the_chance_is_one_less_the_exponential) {
  for (std::size_t n = 1; n < (std::size_t{1} << 30); n = n * 3 / 2 + 1) {
    const double is = -std::expm1(-double(n) / (512 * 1024.0));
    EXPECT_NEAR(1, chance_of_sample(n, 512 * 1024) / is, 1e-6) << n;
  }
  EXPECT_EQ(1, chance_of_sample(~std::size_t{0}, 1));
}

TEST(poisson, what_is_drawn_has_the_mean_and_the_spread_of_its_kind) {
  random r;
  r.seed(42);
  constexpr int draws = 400'000;
  constexpr double mean = 1000;
  double sum = 0, squares = 0;
  int beyond = 0;
  for (int i = 0; i != draws; ++i) {
    const std::int64_t n = bytes_to_next_sample(r, std::uint64_t(mean));
    ASSERT_GE(n, 1);
    sum += double(n), squares += double(n) * double(n);
    beyond += n > 3 * mean;
  }
  EXPECT_NEAR(mean, sum / draws, mean / 100);
  EXPECT_NEAR(2 * mean * mean, squares / draws, mean * mean / 25);  // as the exponential distribution's
  EXPECT_NEAR(std::exp(-3.0), double(beyond) / draws, 0.002);
}

TEST(poisson, however_large_the_mean_what_is_drawn_is_a_number_of_bytes) {
  random r;
  r.seed(42);
  for (int i = 0; i != 1000; ++i) ASSERT_GE(bytes_to_next_sample(r, UINT64_MAX), 1);
}

TEST(poisson, a_block_has_a_byte_that_is_drawn_as_often_as_the_chance_says) {
  random r;
  r.seed(42);
  constexpr int draws = 100'000;
  for (const std::uint64_t mean : {1, 2, 10}) {
    int inside[6]{};
    for (int i = 0; i != draws; ++i) {
      const std::int64_t n = bytes_to_next_sample(r, mean);
      for (int size = 1; size != 6; ++size) inside[size] += n <= size;
    }
    for (int size = 1; size != 6; ++size)
      EXPECT_NEAR(chance_of_sample(std::size_t(size), mean), double(inside[size]) / draws, 0.01)
          << size << " of " << mean;
  }
}

}  // namespace
}  // namespace polder::mem
