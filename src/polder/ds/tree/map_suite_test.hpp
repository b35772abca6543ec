#pragma once
// map_suite — what is asked of every map: alone the same as std::map, among four threads a sum of keys that comes out, at rest
// its own invariants, at the end no memory. A map's test says  POLDER_MAP_SUITE(name, template of a reclaimer).
//
//   map            over reclaimers that free at once, or never: all there is to ask
//   map_reclaimed  over some of the registry's reclaimers, in short; see `registered`

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/base/type_list.hpp>
#include <polder/ds/suits.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/ds/tree/history_test.hpp>
#include <polder/ds/tree/map_info.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::map_suite {

using eager::drained;

#if POLDER_SANITIZED
constexpr unsigned scale = 1;
#else
constexpr unsigned scale = 4;
#endif

// A value of which it is known how many there are.
struct counted {
  static inline atomic<long> count{0};
  static long alive() { return count.load(order::relaxed); }
  long n = 0;
  counted() noexcept { count.fetch_add(1, order::relaxed); }
  explicit counted(long i) noexcept : n(i) { count.fetch_add(1, order::relaxed); }
  counted(const counted& other) noexcept : n(other.n) { count.fetch_add(1, order::relaxed); }
  counted& operator=(const counted&) = default;
  ~counted() { count.fetch_sub(1, order::relaxed); }
  friend bool operator==(const counted& a, const counted& b) { return a.n == b.n; }
};

// A map with its reclaimer, whatever its keys and values.
template <template <class, class, class> class Map, class R>
struct subject {
  using reclaimer = R;
  template <class K, class V>
  using of = Map<K, V, R>;
};

// One for each reclaimer that suits the map.
template <template <class, class, class> class Map, class List, class... Found>
struct suited {
  using type = ::testing::Types<Found...>;
};
template <template <class, class, class> class Map, class R, class... Rest, class... Found>
struct suited<Map, type_list<R, Rest...>, Found...>
    : std::conditional_t<suits<R>(Map<long, long, R>::info),
                         suited<Map, type_list<Rest...>, Found..., subject<Map, R>>,
                         suited<Map, type_list<Rest...>, Found...>> {};

struct names {
  template <class M>
  static std::string GetName(int) {
    std::string name = std::string(M::reclaimer::info.name);
    for (char& c : name) {
      if (c == '-') c = '_';
    }
    return name;
  }
};

template <class M>
class seeded : public ::testing::Test {
 protected:
  std::uint64_t seed_ = std::random_device{}();
  void SetUp() override { RecordProperty("seed", std::to_string(seed_)); }
  void TearDown() override {
    if (HasFailure()) std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }
};

template <class M>
class map : public seeded<M> {};
template <class M>
class map_reclaimed : public seeded<M> {};
TYPED_TEST_SUITE_P(map);
TYPED_TEST_SUITE_P(map_reclaimed);

template <class M>
void against_std_map(M& m, std::uint64_t seed, long range, unsigned operations) {
  using K = typename M::key_type;
  using V = typename M::value_type;
  std::mt19937_64 random(seed);
  std::map<K, V> truth;
  for (unsigned i = 0; i != operations; ++i) {
    const K key = K(long(random() % std::uint64_t(range)) - range / 2);
    const auto known = truth.find(key);
    switch (random() % 8) {
      case 0:
      case 1:
      case 2: ASSERT_EQ(m.insert(key, V(long(i))), truth.emplace(key, V(long(i))).second); break;
      case 3:
      case 4: ASSERT_EQ(m.erase(key), truth.erase(key) != 0); break;
      case 5: {
        const auto taken = m.take(key);
        ASSERT_EQ(taken.has_value(), known != truth.end());
        if (taken) {
          ASSERT_EQ(*taken, known->second);
          truth.erase(known);
        }
        break;
      }
      case 6: ASSERT_EQ(m.contains(key), known != truth.end()); break;
      default: {
        const auto got = m.get(key);
        ASSERT_EQ(got.has_value(), known != truth.end());
        if (got) {
          ASSERT_EQ(*got, known->second);
        }
      }
    }
    if (i % 4096 == 0) m.validate();
  }
  m.validate();
  std::map<K, V> found;
  m.for_each_quiescent([&](const K& k, const V& v) { found.emplace(k, v); });
  ASSERT_EQ(found, truth);
  ASSERT_EQ(m.size_slow(), truth.size());
}

TYPED_TEST_P(map, does_what_std_map_does) {
  for (const long range : {8, 300, 5000}) {
    drained<typename TypeParam::reclaimer> domain;
    typename TypeParam::template of<long, long> m(domain);
    against_std_map(m, this->seed_, range, range == 5000 ? 8000 * scale : 2000 * scale);
  }
}

TYPED_TEST_P(map, keys_at_the_ends_of_their_type) {
  drained<typename TypeParam::reclaimer> domain;
  typename TypeParam::template of<long, long> m(domain);
  const long least = std::numeric_limits<long>::min(), most = std::numeric_limits<long>::max();
  for (long i = 0; i != 40; ++i) {
    ASSERT_FALSE(m.contains(most - i));
    ASSERT_TRUE(m.insert(most - i, i));
    ASSERT_FALSE(m.insert(most - i, i));
    ASSERT_TRUE(m.insert(least + i, -i));
    m.validate();
  }
  ASSERT_EQ(m.get(most), 0);
  ASSERT_EQ(m.get(least + 39), -39);
  for (long i = 0; i != 40; ++i) {
    ASSERT_TRUE(m.erase(most - i));
    ASSERT_FALSE(m.erase(most - i));
    ASSERT_EQ(m.take(least + i), -i);
    m.validate();
  }
  ASSERT_EQ(m.size_slow(), 0u);
}

TYPED_TEST_P(map, ascending_and_descending) {
  drained<typename TypeParam::reclaimer> domain;
  typename TypeParam::template of<long, long> m(domain);
  const long n = 1000;
  for (long i = 0; i != n; ++i) ASSERT_TRUE(m.insert(i, i));
  m.validate();
  for (long i = 0; i != n; ++i) ASSERT_TRUE(m.erase(i));
  m.validate();
  for (long i = n; i-- != 0;) ASSERT_TRUE(m.insert(i, i));
  m.validate();
  for (long i = n; i-- != 0;) ASSERT_TRUE(m.erase(i));
  m.validate();
  ASSERT_EQ(m.size_slow(), 0u);
}

// Keys and values that own memory.
TYPED_TEST_P(map, of_strings) {
  using strings = typename TypeParam::template of<std::string, std::string>;
  drained<typename TypeParam::reclaimer> domain;
  strings m(domain);
  const auto text = [](long i) { return "a string too long to be kept inside " + std::to_string(i); };
  for (long i = 0; i != 300; ++i) ASSERT_TRUE(m.insert(text(i * 7 % 300), text(i)));
  m.validate();
  for (long i = 0; i != 300; i += 2) ASSERT_EQ(m.take(text(i * 7 % 300)), text(i));
  m.validate();
  for (long i = 0; i != 300; ++i) ASSERT_EQ(m.contains(text(i * 7 % 300)), i % 2 == 1);
}

template <class M>
std::size_t all_at_once(M& m, std::uint64_t seed, long range, unsigned operations) {
  using V = typename M::value_type;
  constexpr unsigned threads = 4;
  std::vector<std::thread> workers;
  std::size_t sums[threads] = {};
  atomic<unsigned> ready{0};
  for (unsigned t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      std::mt19937_64 random(seed + t);
      std::size_t sum = 0;
      ready.fetch_add(1, order::relaxed);
      while (ready.load(order::relaxed) != threads) std::this_thread::yield();
      for (unsigned i = 0; i != operations; ++i) {
        const long key = long(random() % std::uint64_t(range));
        switch (random() % 5) {
          case 0:
          case 1:
            if (m.insert(key, V(key))) sum += std::size_t(key);
            break;
          case 2:
            if (m.erase(key)) sum -= std::size_t(key);
            break;
          case 3:
            if (const auto taken = m.take(key)) {
              sum -= std::size_t(key);
              must(*taken == V(key));
            }
            break;
          default:
            if (const auto got = m.get(key)) must(*got == V(key));
            m.contains(key);
        }
      }
      sums[t] = sum;
    });
  }
  for (std::thread& w : workers) w.join();
  std::size_t sum = 0;
  for (const std::size_t s : sums) sum += s;
  return sum;
}

template <class M>
void sums_come_out(std::uint64_t seed, std::initializer_list<long> ranges) {
  for (const long range : ranges) {
    drained<typename M::reclaimer_type> domain;
    M m(domain);
    const std::size_t sum = all_at_once(m, seed, range, 3000 * scale);
    m.validate();
    ASSERT_EQ(m.key_sum_quiescent(), sum);
  }
}

TYPED_TEST_P(map, what_was_inserted_less_what_was_erased_is_there) {
  sums_come_out<typename TypeParam::template of<long, long>>(this->seed_, {4, 40, 400});
}

// Between growing and shrinking much is joined and dealt out.
TYPED_TEST_P(map, grows_and_shrinks_under_four_threads) {
  drained<typename TypeParam::reclaimer> domain;
  typename TypeParam::template of<long, long> m(domain);
  constexpr long threads = 4, each = 150;
  for (unsigned round = 0; round != 2 * scale; ++round) {
    for (const bool growing : {true, false}) {
      std::vector<std::thread> workers;
      for (long t = 0; t != threads; ++t) {
        workers.emplace_back([&, t] {
          for (long i = 0; i != each; ++i) {
            const long key = i * threads + t;
            must(growing ? m.insert(key, key) : m.erase(key));
            must(m.contains(key) == growing);
          }
        });
      }
      for (std::thread& w : workers) w.join();
      m.validate();
      ASSERT_EQ(m.size_slow(), growing ? std::size_t(threads * each) : 0u);
    }
  }
}

template <class M>
void all_is_freed(std::uint64_t seed) {
  ASSERT_EQ(counted::alive(), 0);
  {
    drained<typename M::reclaimer_type> domain;
    {
      M m(domain);
      all_at_once(m, seed, 200, 1500 * scale);
      m.validate();
    }
  }
  ASSERT_EQ(counted::alive(), 0);
}

// Few keys, short histories, many of them.
template <class M>
void all_are_linearizable(std::uint64_t seed, unsigned rounds) {
  constexpr unsigned threads = 3, each = 24;
  constexpr long keys = 4;
  for (unsigned round = 0; round != rounds; ++round) {
    drained<typename M::reclaimer_type> domain;
    M m(domain);
    atomic<std::uint64_t> now{0};
    atomic<unsigned> ready{0};
    std::vector<history::recorder> recorders(threads, history::recorder(now));
    std::vector<std::thread> workers;
    for (unsigned t = 0; t != threads; ++t) {
      workers.emplace_back([&, t] {
        std::mt19937_64 random(seed + round * threads + t);
        ready.fetch_add(1, order::relaxed);
        while (ready.load(order::relaxed) != threads) std::this_thread::yield();
        for (unsigned i = 0; i != each; ++i) {
          // Each thread starts at another key, and none has more than half of its operations on one.
          const long key = long((i + random() % 2 * 2 + t) % keys);
          recorders[t].run(m, history::call(random() % 5), key, long(t * each + i));
        }
      });
    }
    for (std::thread& w : workers) w.join();
    history h;
    for (const history::recorder& r : recorders) h.add(r.done);
    ASSERT_TRUE(h.linearizable()) << "round " << round << " of seed " << seed;
  }
}

TYPED_TEST_P(map, histories_are_linearizable) {
  all_are_linearizable<typename TypeParam::template of<long, long>>(this->seed_, 40 * scale);
}

TYPED_TEST_P(map, everything_made_is_freed) {
  all_is_freed<typename TypeParam::template of<long, counted>>(this->seed_);
}

TYPED_TEST_P(map, as_a_set_has_no_value) {
  using set = typename TypeParam::template of<long, nothing>;
  drained<typename TypeParam::reclaimer> domain;
  set m(domain);
  for (long i = 0; i != 100; ++i) ASSERT_TRUE(m.insert(i));
  ASSERT_FALSE(m.insert(7));
  ASSERT_TRUE(m.take(7).has_value());
  ASSERT_FALSE(m.contains(7));
  m.validate();
}

TYPED_TEST_P(map_reclaimed, what_was_inserted_less_what_was_erased_is_there) {
  sums_come_out<typename TypeParam::template of<long, long>>(this->seed_, {4, 1000});
}

TYPED_TEST_P(map_reclaimed, everything_made_is_freed) {
  all_is_freed<typename TypeParam::template of<long, counted>>(this->seed_);
}

REGISTER_TYPED_TEST_SUITE_P(map, does_what_std_map_does, keys_at_the_ends_of_their_type, ascending_and_descending,
                            of_strings, what_was_inserted_less_what_was_erased_is_there,
                            grows_and_shrinks_under_four_threads, histories_are_linearizable,
                            everything_made_is_freed, as_a_set_has_no_value);
REGISTER_TYPED_TEST_SUITE_P(map_reclaimed, what_was_inserted_less_what_was_erased_is_there,
                            everything_made_is_freed);

// One of each algorithm where a use after free is seen at once; elsewhere one that protects regions and one that protects
// pointers. Under all of them each structure runs in bench.structures, whose program holds the product anyway: in each
// preset the compiler takes seconds for a pair.
#if POLDER_ASAN
using registered = smr::families;
#else
using registered = type_list<smr::debra, smr::hazard>;
#endif
using strict = type_list<eager::leaky, eager::region, eager::hazard>;
template <template <class, class, class> class Map, class Reclaimers>
using suited_t = typename suited<Map, Reclaimers>::type;

#define POLDER_MAP_SUITE(name, ...)                                \
  using name##_strict = suited_t<__VA_ARGS__, strict>;             \
  using name##_reclaimed = suited_t<__VA_ARGS__, registered>;      \
  INSTANTIATE_TYPED_TEST_SUITE_P(name, map, name##_strict, names); \
  INSTANTIATE_TYPED_TEST_SUITE_P(name, map_reclaimed, name##_reclaimed, names)

}  // namespace polder::ds::map_suite
