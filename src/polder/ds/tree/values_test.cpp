// Maps of values that can be copied and nothing else: small ones, too, of which one might make an atomic word.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include <polder/ds/all.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds {
namespace {

// Never assigned, made from something only.
struct constant {
  const int n;
  explicit constant(int i) : n(i) {}
  bool is(int i) const { return n == i; }
};
// No size that a processor reads whole.
struct three_bytes {
  unsigned char bytes[3];
  explicit three_bytes(int i) : bytes{static_cast<unsigned char>(i), 1, 2} {}
  bool is(int i) const { return bytes[0] == i && bytes[2] == 2; }
};
// Of no size, and made from something only.
struct made_from {
  explicit made_from(int) {}
  bool is(int) const { return true; }
};
// The same from nothing, but not by the compiler, and nothing else makes one silently.
struct made_anew {
  explicit made_anew() {}
  explicit made_anew(int) {}
  bool is(int) const { return true; }
};

// Of more than malloc's alignment.
struct alignas(64) over_aligned {
  int n;
  explicit over_aligned(int i) : n(i) {}
  bool is(int i) const { return n == i && reinterpret_cast<std::uintptr_t>(this) % 64 == 0; }
};

// Whose address nobody takes by &.
struct unaddressed {
  int n;
  explicit unaddressed(int i) : n(i) {}
  ~unaddressed() {}
  unaddressed(const unaddressed&) = default;
  void operator&() const = delete;
  bool is(int i) const { return n == i; }
  friend bool operator<(const unaddressed& a, const unaddressed& b) { return a.n < b.n; }
};

template <class Map>
class values : public ::testing::Test {};
using R = smr::debra;
using types = ::testing::Types<
    list_set<int, constant, R>, hash_map<int, constant, R>, abtree<int, constant, R>, ellen_bst<int, constant, R>,
    skip_list<int, constant, R>, occ_avl<int, constant, R>, occ_avl<int, three_bytes, R>,
    occ_avl<int, made_from, R>, abtree<int, made_from, R>, ellen_bst<int, made_from, R>, abtree<int, made_anew, R>,
    ellen_bst<int, made_anew, R>, occ_avl<int, made_anew, R>, abtree<unaddressed, unaddressed, R>,
    ellen_bst<unaddressed, unaddressed, R>, list_set<int, over_aligned, R>, abtree<int, over_aligned, R>,
    ellen_bst<int, over_aligned, R>, skip_list<int, over_aligned, R>, occ_avl<int, over_aligned, R>>;
TYPED_TEST_SUITE(values, types);

TYPED_TEST(values, need_only_be_copied) {
  using key = typename TypeParam::key_type;
  using value = typename TypeParam::value_type;
  constexpr int many = 100;
  eager::drained<R> d;
  TypeParam map(d);
  for (int i = 0; i != many; ++i) ASSERT_TRUE(map.insert(key(i), value(i)));
  for (int i = 0; i != many; ++i) {
    const auto v = map.get(key(i));
    ASSERT_TRUE(v.has_value() && v->is(i));
  }
  for (int i = 0; i != many; i += 2) {
    const auto v = map.take(key(i));
    ASSERT_TRUE(v.has_value() && v->is(i));
    ASSERT_FALSE(map.contains(key(i)));
  }
  map.for_each_quiescent([](const auto&, const value& v) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(std::addressof(v)) % alignof(value), 0u);
  });
  EXPECT_EQ(map.size_slow(), std::size_t(many / 2));
}

}  // namespace
}  // namespace polder::ds
