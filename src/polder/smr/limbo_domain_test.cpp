// What a domain does now and then, under every scheme of the registry (sanitizers: one of each algorithm).
#include <gtest/gtest.h>

#include <polder/smr/all.hpp>
#include <polder/smr/schemes_test.hpp>

namespace {

using namespace polder::smr;

template <class R>
class domains : public testing::Test {
 public:
  using domain = typename R::domain;
  using guard = typename R::template guard<1>;

  struct filling : R::header {
    long words[4] = {};
  };
  static void retire_some(domain& d, int n) {
    for (; n != 0; --n) {
      guard g(d);
      g.retire(g.template make<filling>());
    }
  }
};
TYPED_TEST_SUITE(domains, tests_of<tested>::types, names_of_schemes);

// Whatever a thread has counted towards its next look when it drains.
TYPED_TEST(domains, go_on_reclaiming_after_a_drain) {
  if (TypeParam::info.name == "leaky") GTEST_SKIP() << TypeParam::info.bound;
  for (int before = 0; before != 128; ++before) {
    typename TestFixture::domain d;
    for (int n = 0; n != before; ++n) typename TestFixture::guard g(d);
    d.drain();
    TestFixture::retire_some(d, 4000);
    ASSERT_LT(d.statistics().unreclaimed(), 2000u) << "after " << before << " guards and a drain";
    d.drain();
  }
}

}  // namespace
