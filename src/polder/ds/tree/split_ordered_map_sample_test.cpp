// split_ordered_map, of which all keys are counted: erasing what is being inserted is not growth.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/ds/tree/split_ordered_map.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds {
namespace {

struct by_number {
  std::uint64_t operator()(long k) const noexcept { return std::uint64_t(k) << 60; }
};
struct all {
  static constexpr std::uint64_t of = 16;
  static bool has(std::uint64_t) noexcept { return true; }
};

// A few keys, and 16 buckets for each. Of all threads but one a removal may have yet to be counted, so as many keys more.
TEST(split_ordered_map_sample, an_erasure_that_is_counted_before_its_insertion_is_not_growth) {
  constexpr std::size_t threads = 64;  // so many that some stand still between the two steps
  constexpr long keys = 4;
  constexpr long each = POLDER_SANITIZED ? 2'000 : 125'000;
  eager::drained<smr::debra> domain;
  split_ordered_map<long, long, smr::debra, by_number, all> m(domain);
  const std::size_t at_first = m.buckets();
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      for (long i = 0; i != each; ++i) {
        const long key = (i * 7 + long(t)) % keys;
        if (!m.insert(key)) m.erase(key);
      }
    });
  }
  for (std::thread& w : workers) w.join();
  EXPECT_LE(m.buckets(), at_first * 2 * threads);
}

}  // namespace
}  // namespace polder::ds
