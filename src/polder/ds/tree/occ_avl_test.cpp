// occ_avl under what is asked of every map, and the size of its nodes.
#include <polder/ds/tree/occ_avl.hpp>

#include <cstddef>
#include <functional>

#include <polder/ds/tree/map_suite_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::map_suite {
namespace {

template <class K, class V, class R>
using occ_avl_of = occ_avl<K, V, R>;
POLDER_MAP_SUITE(occ_avl, occ_avl_of);

// In memory, with keys and values of eight bytes and a reclaimer that needs no header.
using small = occ_avl<long, long, eager::leaky>;
static_assert(sizeof(small::node) == 64 && sizeof(occ_avl<long, nothing, eager::leaky>::node) <= 64);

// A value of which those that the tree made do something when they are destroyed; not within another's destruction.
struct comes_back {
  static inline std::function<void()> when_destroyed;
  static inline bool within = false;
  bool is_original = false;
  comes_back() = default;
  explicit comes_back(bool original) : is_original(original) {}
  comes_back(const comes_back&) {}
  ~comes_back() {
    if (is_original || within || !when_destroyed) return;
    within = true;
    when_destroyed();
    within = false;
  }
};

// An erasure that frees as it retires: what is freed looks for the key that is being erased, and puts it there once more.
TEST(occ_avl, a_value_that_is_destroyed_may_come_back_to_the_tree) {
  smr::debra::domain domain({.drain = {.how = smr::drain_policy::way::adaptive}});
  {
    occ_avl<long, comes_back, smr::debra> t(domain);
    const comes_back value(true);
    constexpr long keys = 31;
    for (long key = 0; key != keys; ++key) t.insert(key, value);
    long came = 0;
    for (long i = 0; i != 20'000; ++i) {
      const long key = i * 7 % keys;
      comes_back::when_destroyed = [&] { came += !t.contains(key) && t.insert(key, value); };
      ASSERT_TRUE(t.erase(key));
      comes_back::when_destroyed = nullptr;
      t.insert(key, value);
    }
    EXPECT_GT(came, 100);
    EXPECT_EQ(t.size_slow(), std::size_t(keys));
    t.validate();
  }
  domain.drain();
}

}  // namespace
}  // namespace polder::ds::map_suite
