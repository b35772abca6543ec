// The questions of collection_suite_test.hpp.
#include <polder/ds/collection_suite_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <ostream>
#include <random>
#include <thread>

#include <polder/base/check.hpp>
#include <polder/base/sanitizers.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds::collection_suite {

std::vector<subject>& subjects() {
  static std::vector<subject> all;
  return all;
}

void PrintTo(const subject& s, std::ostream* out) { *out << s.name; }

namespace {

#if POLDER_SANITIZED || defined(POLDER_EMULATED)
constexpr unsigned scale = 1;
#else
constexpr unsigned scale = 4;
#endif

class collection : public ::testing::TestWithParam<subject> {
 protected:
  const collection_info& info() const { return GetParam().info; }
  bool in_short() const { return GetParam().fragiles == nullptr; }
  // Whether a thread may put and get while others do.
  bool without_roles() const { return info().most_putters == 0 && info().most_getters == 0; }
  // One that waits for an element must not be asked when there is none.
  bool may_be_asked_empty() const { return info().empty != emptiness::waits; }

  template <class T>
  void is_empty(tested<T>& c) {
    if (!may_be_asked_empty()) return;
    ASSERT_FALSE(c.get().has_value());
    ASSERT_FALSE(c.get().has_value());
  }

  void alone(tested<long>& c, std::uint64_t seed, unsigned operations);
  template <class T>
  void nothing_is_lost(tested<T>& c, unsigned each, bool roles);

  std::uint64_t seed_ = std::random_device{}();
  void TearDown() override {
    if (HasFailure()) std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }
};

// What one thread alone may see: the elements inside, oldest first.
class truth {
 public:
  explicit truth(const collection_info& info) : info_(info) {}
  void put(long n) { inside_.push_back(n); }
  bool empty() const { return inside_.empty(); }

  // Whether n may come out now; then it is out.
  bool get(std::size_t k, long n) {
    const auto at = std::find(inside_.begin(), inside_.end(), n);
    if (at == inside_.end()) return false;
    const auto older = std::size_t(at - inside_.begin()), younger = inside_.size() - older - 1;
    inside_.erase(at);
    if (info_.order == semantics::pool) return true;
    switch (info_.kind) {
      case shape::queue: return older <= k;
      case shape::stack: return younger <= k;
      case shape::deque: return std::min(older, younger) <= k;
      case shape::pool: return true;
    }
    return false;
  }

 private:
  const collection_info& info_;
  std::deque<long> inside_;
};

void collection::alone(tested<long>& c, std::uint64_t seed, unsigned operations) {
  std::mt19937_64 random(seed);
  truth known(info());
  for (unsigned i = 0; i != operations; ++i) {
    // By turns it grows and shrinks.
    if (random() % 100 < (i / 500 % 2 == 0 ? 60u : 40u)) {
      if (c.put(long(i))) {
        known.put(long(i));
      } else {
        ASSERT_FALSE(info().capacity.empty()) << "an unbounded structure was full";
      }
    } else if (!known.empty() || may_be_asked_empty()) {
      const std::optional<long> n = c.get();
      ASSERT_EQ(n.has_value(), !known.empty()) << "operation " << i;
      if (n) {
        ASSERT_TRUE(known.get(c.k(), *n)) << *n << " at operation " << i;
      }
    }
  }
  while (!known.empty()) {
    const std::optional<long> n = c.get();
    ASSERT_TRUE(n.has_value());
    ASSERT_TRUE(known.get(c.k(), *n)) << *n;
  }
  is_empty(c);
}

TEST_P(collection, alone_it_does_what_its_semantics_says) {
  const auto c = GetParam().longs();
  alone(*c, seed_, (in_short() ? 1000 : 5000) * scale);
  alone(*c, seed_ + 1, 200);
}

long number(long n) { return n; }
long number(const counted& n) { return n.n; }

// With roles, two threads put and two get, or as many as may; else each of four does both. Then all that is left comes out.
// Every element once.
template <class T>
void collection::nothing_is_lost(tested<T>& c, unsigned each, bool roles) {
  const auto at_most = [](unsigned n, unsigned most) { return most == 0 ? n : std::min(n, most); };
  const unsigned putters = roles ? at_most(2, info().most_putters) : 4;
  const unsigned threads = roles ? putters + at_most(2, info().most_getters) : putters;
  std::vector<std::vector<long>> got(threads);
  std::vector<std::thread> workers;
  atomic<unsigned> ready{0};
  atomic<long> inside{0};
  atomic<unsigned> putting{putters};
  for (unsigned t = 0; t != threads; ++t) {
    workers.emplace_back([&, t] {
      std::mt19937_64 random(seed_ + t);
      ready.fetch_add(1, order::relaxed);
      while (ready.load(order::relaxed) != threads) std::this_thread::yield();
      for (unsigned i = 0; i != each;) {
        if (roles ? t < putters : random() % 2 == 0) {
          if (c.put(T(long(t * each + i)))) {
            ++i, inside.fetch_add(1, order::relaxed);
          } else {
            std::this_thread::yield();
          }
          continue;
        }
        // Of a bounded one, who puts may wait for room: so there is a getter to the end.
        if (roles && (info().capacity.empty() || putting.load(order::relaxed) == 0)) ++i;
        // One that waits is asked for what is surely there.
        if (!may_be_asked_empty() && inside.fetch_sub(1, order::relaxed) <= 0) {
          inside.fetch_add(1, order::relaxed);
          std::this_thread::yield();
        } else if (std::optional<T> value = c.get()) {
          got[t].push_back(number(*value));
        } else {
          std::this_thread::yield();
        }
      }
      if (t < putters) putting.fetch_sub(1, order::relaxed);
    });
  }
  for (std::thread& w : workers) w.join();
  std::vector<long> all;
  for (const std::vector<long>& g : got) all.insert(all.end(), g.begin(), g.end());
  const std::size_t put = std::size_t(putters) * each;
  while (all.size() < put) {
    std::optional<T> value = c.get();
    ASSERT_TRUE(value.has_value()) << "lost " << put - all.size() << " of " << put;
    all.push_back(number(*value));
  }
  is_empty(c);
  std::sort(all.begin(), all.end());
  ASSERT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end()) << "an element came out twice";
  ASSERT_EQ(all.size(), put);
}

TEST_P(collection, among_four_threads_nothing_is_lost_or_doubled) {
  for (const bool roles : {true, false}) {
    if (!roles && !without_roles()) continue;
    const auto c = GetParam().longs();
    nothing_is_lost(*c, (in_short() ? 500 : 4000) * scale, roles);
    nothing_is_lost(*c, 300, roles);
  }
}

TEST_P(collection, threads_that_ended_leave_their_elements) {
  const auto c = GetParam().longs();
  constexpr long threads = 40, each = 10;
  for (long t = 0; t != threads; ++t) {
    std::thread([&] {
      for (long i = 0; i != each; ++i) must(c->put(t * each + i));
      if (t % 2 == 1) must(c->get().has_value());
    }).join();
  }
  for (long n = threads * each - threads / 2; n != 0; --n) ASSERT_TRUE(c->get().has_value()) << n;
  is_empty(*c);
}

TEST_P(collection, what_is_inside_at_the_end_is_destroyed_and_all_is_reclaimed) {
  ASSERT_EQ(counted::alive(), 0);
  const long before = scarce_memory::used.load(order::relaxed);
  {
    const auto c = GetParam().counteds();
    for (long i = 0; i != 300; ++i) ASSERT_TRUE(c->put(counted(i)));
    for (long i = 0; i != 100; ++i) ASSERT_TRUE(c->get().has_value());
    ASSERT_EQ(counted::alive(), 200);
    EXPECT_EQ(c->left(), 0u);
    ASSERT_EQ(counted::alive(), 0);
    ASSERT_EQ(scarce_memory::used.load(order::relaxed), before);
  }
  const auto c = GetParam().counteds();
  for (const bool roles : {true, false}) {
    if (roles || without_roles()) nothing_is_lost(*c, 300 * scale, roles);
  }
  EXPECT_EQ(c->left(), 0u);
  ASSERT_EQ(counted::alive(), 0);
  ASSERT_EQ(scarce_memory::used.load(order::relaxed), before);
}

class collection_in_full : public collection {};

TEST_P(collection_in_full, a_move_that_throws_loses_nothing) {
  const auto c = GetParam().fragiles();
  long sum = 0;
  for (long i = 0; i != 50; ++i) {
    ASSERT_TRUE(c->put(fragile(i)));
    fragile outside(i);
    fragile::throws = true;
    EXPECT_THROW(c->put(std::move(outside)), std::runtime_error);
    if (i % 3 == 0) {
      EXPECT_THROW(c->get(), std::runtime_error);
    }
    fragile::throws = false;
  }
  for (long i = 0; i != 50; ++i) {
    const std::optional<fragile> n = c->get();
    ASSERT_TRUE(n.has_value());
    sum += *n->n;
  }
  ASSERT_EQ(sum, 50 * 49 / 2);
}

TEST_P(collection_in_full, no_memory_for_a_node_changes_nothing) {
  constexpr long plenty = 1'000'000'000;
  const auto c = GetParam().scarce();
  std::size_t inside = 0, refused = 0;
  for (long i = 0; i != 300; ++i) {
    scarce_memory::left.store(i % 3 == 0 ? 0 : plenty, order::relaxed);
    auto value = std::make_unique<long>(i);
    try {
      inside += c->put(std::move(value));
    } catch (const std::bad_alloc&) {
      ASSERT_TRUE(value != nullptr && *value == i) << "the element went with the memory";
      ++refused;
    }
  }
  scarce_memory::left.store(plenty, order::relaxed);
  ASSERT_EQ(inside + refused, 300u);
  for (; inside != 0; --inside) ASSERT_TRUE(c->get().has_value()) << inside;
  is_empty(*c);
}

std::vector<subject> asked_in_full() {
  std::vector<subject> found;
  std::copy_if(subjects().begin(), subjects().end(), std::back_inserter(found),
               [](const subject& s) { return s.fragiles != nullptr; });
  return found;
}

const auto by_name = [](const auto& tried) { return tried.param.name; };
INSTANTIATE_TEST_SUITE_P(of, collection, ::testing::ValuesIn(subjects()), by_name);
INSTANTIATE_TEST_SUITE_P(of, collection_in_full, ::testing::ValuesIn(asked_in_full()), by_name);

}  // namespace
}  // namespace polder::ds::collection_suite
