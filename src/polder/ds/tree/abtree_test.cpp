// abtree under what is asked of every map; its steps with the smallest nodes; ranges.
#include <polder/ds/tree/abtree.hpp>

#include <algorithm>
#include <atomic>
#include <new>
#include <random>

#include <polder/ds/tree/map_suite_test.hpp>

namespace polder::ds::map_suite {
namespace {

template <class K, class V, class R>
using abtree_of = abtree<K, V, R>;
POLDER_MAP_SUITE(abtree, abtree_of);

// In memory, with keys and values of eight bytes and a reclaimer that needs no header.
static_assert(sizeof(abtree<long, long, eager::leaky>::leaf) <= 192);
static_assert(sizeof(abtree<long, long, eager::leaky>::inner) <= 192);
static_assert(sizeof(abtree<long, nothing, eager::leaky>::leaf) <= 112);

// With two to three children each update splits or joins.
template <class R>
using smallest = abtree<long, long, R, 2, 3>;

TEST(abtree_smallest, does_what_std_map_does) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  drained<eager::region> domain;
  smallest<eager::region> m(domain);
  against_std_map(m, seed, 300, 8000);
}

template <class R>
void smallest_under_four_threads() {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  for (const long range : {4, 12, 100}) {
    drained<R> domain;
    smallest<R> m(domain);
    const std::size_t sum = all_at_once(m, seed, range, 4000 * scale);
    m.validate();
    ASSERT_EQ(m.key_sum_quiescent(), sum);
  }
}
TEST(abtree_smallest, under_four_threads_by_regions) { smallest_under_four_threads<eager::region>(); }
TEST(abtree_smallest, under_four_threads_by_pointers) { smallest_under_four_threads<eager::hazard>(); }
TEST(abtree_smallest, under_four_threads_unfenced) { smallest_under_four_threads<eager::leaky>(); }

// Of pointers: below the last open link all that is passed hangs there while that link leads to the same node, and it is the same only
// if a slot has kept it. Frozen links are left by updates whose mending had no memory.
struct watched : eager::hazard {
  static inline bool watching = false;
  static inline long fails_in = -1;
  static inline unsigned long below_frozen = 0, not_kept = 0;
  template <unsigned Slots>
  class guard : public eager::hazard::guard<Slots> {
    using base = eager::hazard::guard<Slots>;

   public:
    using base::base;
    template <class W>
    W protect(unsigned slot, const atomic<W>& word) {
      const W w = base::protect(slot, word);
      if (!watching) return w;
      kept_[slot] = w.pointer();
      if (!w.has(1)) {  // frozen
        open_ = w.pointer();
      } else {
        ++below_frozen;
        not_kept += std::find(kept_, kept_ + Slots, open_) == kept_ + Slots;
      }
      return w;
    }
    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
      if (fails_in >= 0 && fails_in-- == 0) throw std::bad_alloc();
      return base::template make<T>(std::forward<Arguments>(arguments)...);
    }

   private:
    const void* kept_[Slots] = {};
    const void* open_ = nullptr;
  };
};

TEST(abtree_smallest, keeps_what_the_last_open_link_leads_to) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  drained<watched> domain;
  smallest<watched> m(domain);
  constexpr long keys = 60;
  for (int i = 0; i != 20'000; ++i) {
    const long key = long(random() % keys);
    watched::fails_in = random() % 2 == 0 ? long(random() % 7) : -1;
    try {
      if (random() % 2 == 0) m.insert(key, key);
      else m.erase(key);
    } catch (const std::bad_alloc&) {
    }
    watched::fails_in = -1;
    watched::watching = true;
    for (long k = 0; k < keys; k += 7) static_cast<void>(m.contains(k));
    watched::watching = false;
  }
  EXPECT_GT(watched::below_frozen, 100u);
  EXPECT_EQ(watched::not_kept, 0u);
}

TEST(abtree_range, holds_both_ends) {
  drained<eager::leaky> domain;
  abtree<long, long, eager::leaky> m(domain);
  for (long i = 0; i != 1000; ++i) m.insert(2 * i, i);
  for (const auto& [lo, hi] : {std::pair<long, long>{0, 1998}, {1, 1}, {10, 10}, {11, 301}, {-5, 5000}, {7, 3}}) {
    std::vector<long> got, expected;
    m.range(lo, hi, [&](long k, long v) {
      ASSERT_EQ(k, 2 * v);
      got.push_back(k);
    });
    for (long k = 0; k != 2000; k += 2) {
      if (lo <= k && k <= hi) expected.push_back(k);
    }
    ASSERT_EQ(got, expected);
  }
}

// Each writer has its tokens at one of a pair of places at least: it inserts at the one before it erases at the other. So no
// moment sees a pair with neither.
TEST(abtree_range, is_one_moment) {
  using tree = abtree<long, long, smr::ebr, 2, 3>;
  drained<smr::ebr> domain;
  tree m(domain);
  constexpr long pairs = 24;
  const auto place = [](long pair, long side) { return pair + side * 1000; };
  for (long p = 0; p != pairs; ++p) m.insert(place(p, 0), p);
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (long w = 0; w != 2; ++w) {
    writers.emplace_back([&, w] {
      for (long side = 0; !stop; side = 1 - side) {
        for (long p = w; p < pairs; p += 2) {
          must(m.insert(place(p, 1 - side), p));
          must(m.erase(place(p, side)));
        }
      }
    });
  }
  bool whole = true;  // the writers are joined before anything is said
  for (unsigned i = 0; i != 100 * scale; ++i) {
    unsigned seen[pairs] = {};
    long last = -1;
    m.range(0, 2000, [&](long k, long p) {
      whole = whole && k > last;
      last = k;
      ++seen[p];
    });
    for (const unsigned n : seen) whole = whole && (n == 1 || n == 2);
    std::this_thread::yield();
  }
  stop = true;
  for (std::thread& w : writers) w.join();
  ASSERT_TRUE(whole);
  m.validate();
}

}  // namespace
}  // namespace polder::ds::map_suite
