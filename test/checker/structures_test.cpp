// Every structure of the registry keeps what its info promises, by two threads and by eight. Longer by hand:
// checker.run.
#include "checker/structures.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include <polder/base/sanitizers.hpp>

namespace polder::checker {

void PrintTo(const structure& s, std::ostream* out) { *out << s.name; }

namespace {

#if POLDER_SANITIZED
constexpr std::size_t scale = 1;
#else
constexpr std::size_t scale = 5;
#endif

class promises : public ::testing::TestWithParam<structure> {
 protected:
  void TearDown() override {
    if (HasFailure()) std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }

  template <class Clock>
  void are_kept(Clock& clock, unsigned threads, std::size_t operations, std::size_t prefill) {
    const structure& s = GetParam();
    const auto c = s.make();
    plan p = s.planned(threads, operations, seed_);
    p.prefill = prefill;
    const std::size_t k = c->k();
    const elements of = elements_of(play(*c, clock, p));
    const verdict v = kept(promised_by(s.info, k), of);
    ASSERT_TRUE(v) << v << "\nby " << threads << " threads, " << operations << " operations, " << Clock::name;
    ASSERT_EQ(c->left(), 0u);
  }

  std::uint64_t seed_ = std::random_device{}();
};

TEST_P(promises, are_kept_by_two_threads_and_by_eight) {
  counter counted;
  for (const unsigned threads : {2u, 8u}) {
    are_kept(counted, threads, 3000 * scale, 0);
    are_kept(counted, threads, 3000 * scale, 50);
    for (unsigned i = 0; i != 4 * scale; ++i) are_kept(counted, threads, 200, 0);
  }
}

// Each small history has an order that is promised; a deque's with its sides, where put and get alone do not tell them.
TEST_P(promises, are_kept_in_small_histories) {
  const structure& s = GetParam();
  counter clock;
  for (unsigned i = 0; i != 20 * scale; ++i) {
    const auto c = s.make();
    const promised p = promised_by(s.info, c->k());
    if (s.info.kind != ds::shape::deque) {
      const history h = play(*c, clock, s.planned(3, 24, seed_ + i));
      const verdict v = searched(p, h);
      ASSERT_TRUE(v) << v << ", round " << i;
    } else if (s.sided != nullptr) {
      const verdict v = searched(p, s.sided(seed_ + i));
      ASSERT_TRUE(v) << v << ", round " << i;
    }
  }
}

const auto by_name = [](const auto& tried) {
  std::string name = tried.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
};
INSTANTIATE_TEST_SUITE_P(of, promises, ::testing::ValuesIn(structures()), by_name);

}  // namespace
}  // namespace polder::checker
