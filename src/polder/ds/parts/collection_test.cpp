// collection, of elements whose move throws: nobody hears that it is empty while one is inside that came back.
#include <polder/ds/parts/collection.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <polder/base/config.hpp>
#include <polder/ds/blocking.hpp>
#include <polder/ds/pool/rendezvousing.hpp>
#include <polder/ds/queue/faa_queue.hpp>
#include <polder/ds/queue/flat_combining_queue.hpp>
#include <polder/ds/queue/lcrq.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/queue/vyukov_ring.hpp>
#include <polder/ds/stack/lru_ds.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds {
namespace {

struct fragile {
  static inline thread_local bool throws = false;
  std::unique_ptr<long> n;
  explicit fragile(long i) : n(new long(i)) {}
  fragile(fragile&& other) : n(moved(other)) {}
  fragile& operator=(fragile&& other) {
    n = moved(other);
    return *this;
  }
  static std::unique_ptr<long> moved(fragile& from) {
    if (throws) throw std::runtime_error("a move");
    return std::move(from.n);
  }
};
// A get that cannot hand over what it got.
template <class C>
void get_and_throw(C& c) {
  fragile::throws = true;
  EXPECT_THROW(c.get(), std::runtime_error);
  fragile::throws = false;
}

// A queue of one thread, in which a get may do other things before it looks.
struct interrupted : collection<interrupted, fragile, in_node<fragile>> {
  using kept = in_node<fragile>::kept;
  bool insert(kept& e) {
    inside.push_back(std::move(e));
    return true;
  }
  std::optional<kept> remove() {
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    if (inside.empty()) return std::nullopt;
    std::optional<kept> e(std::move(inside.front()));
    inside.pop_front();
    return e;
  }
  std::deque<kept> inside;
  std::function<void()> meanwhile;
};

// One that is moved as it is made, but whose assignment throws.
struct unassigned {
  std::unique_ptr<long> n;
  explicit unassigned(long i) : n(new long(i)) {}
  unassigned(unassigned&&) noexcept = default;
  unassigned& operator=(unassigned&&) { throw std::runtime_error("an assignment"); }
};

// One whose address nobody takes by &.
struct unaddressed {
  long n;
  explicit unaddressed(long i) : n(i) {}
  unaddressed(unaddressed&& other) noexcept : n(std::exchange(other.n, -1)) {}
  unaddressed& operator=(unaddressed&&) = delete;
  ~unaddressed() {}
  void operator&() const = delete;
};
// The same of one that is kept in a word, whose & leads to something else.
struct misaddressed {
  long n;
  explicit misaddressed(long i) : n(i) {}
  const long* operator&() const {
    static const long other = -1;
    return &other;
  }
};
template <class C>
void keeps_what_is_unaddressed(C& c) {
  using T = typename C::value_type;
  for (long i = 0; i != 2; ++i) ASSERT_TRUE(c.put(T(i)));
  long sum = 0;
  while (const std::optional<T> e = c.get()) sum += e->n;
  EXPECT_EQ(sum, 1);
}

TEST(collection, elements_may_have_an_operator_for_their_address) {
  using R = eager::leaky;
  eager::drained<R> domain;
  vyukov_ring<unaddressed, R> ring(2);
  keeps_what_is_unaddressed(ring);
  unaddressed outside(7);
  while (ring.put(unaddressed(0))) {
  }
  EXPECT_FALSE(ring.put(std::move(outside)));
  EXPECT_EQ(outside.n, 7);
  faa_queue<unaddressed, R> arrays(domain);
  keeps_what_is_unaddressed(arrays);
  flat_combining_queue<unaddressed, R> combined;
  keeps_what_is_unaddressed(combined);
  lru_ds<unaddressed, R> distributed(domain);
  keeps_what_is_unaddressed(distributed);
  rendezvousing<unaddressed, R> pool(domain);
  keeps_what_is_unaddressed(pool);
  lcrq<unaddressed, R> boxed(domain);
  keeps_what_is_unaddressed(boxed);
  lcrq<misaddressed, R> in_words(domain);
  keeps_what_is_unaddressed(in_words);
}

// Of more than the alignment of what is kept apart.
struct alignas(4 * false_sharing_range) over_aligned {
  long n;
  explicit over_aligned(long i) : n(i) {}
};

TEST(collection, elements_may_be_aligned_more_than_what_combiners_keep_apart) {
  flat_combining_queue<over_aligned, eager::leaky> queue;
  for (long i = 0; i != 3; ++i) ASSERT_TRUE(queue.put(over_aligned(i)));
  for (long i = 0; i != 3; ++i) {
    const std::optional<over_aligned> e = queue.get();
    ASSERT_TRUE(e.has_value());
    EXPECT_EQ(e->n, i);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(std::addressof(*e)) % alignof(over_aligned), 0u);
  }
}

TEST(collection, what_a_full_one_refuses_is_as_it_was_though_assignments_throw) {
  vyukov_ring<unassigned, eager::leaky> ring(2);
  for (long i = 0; i != 2; ++i) ASSERT_TRUE(ring.put(unassigned(i)));
  unassigned outside(7);
  bool in = true;
  EXPECT_NO_THROW(in = ring.put(std::move(outside)));
  EXPECT_FALSE(in);
  ASSERT_NE(outside.n, nullptr);
  EXPECT_EQ(*outside.n, 7);
}

TEST(collection, one_that_comes_back_during_a_get_is_found) {
  interrupted c;
  c.put(fragile(1));
  c.put(fragile(2));
  c.meanwhile = [&] {
    get_and_throw(c);
    c.inside.pop_front();  // another gets the second
  };
  const auto e = c.get();
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(*e->n, 1);
  EXPECT_FALSE(c.get().has_value());
}

TEST(collection, those_that_came_back_are_all_got_and_none_is_left) {
  interrupted c;
  for (long i = 0; i != 3; ++i) c.put(fragile(i));
  for (int i = 0; i != 5; ++i) get_and_throw(c);
  long sum = 0;
  for (int i = 0; i != 3; ++i) {
    const auto e = c.get();
    ASSERT_TRUE(e.has_value());
    sum += *e->n;
  }
  EXPECT_EQ(sum, 3);
  EXPECT_FALSE(c.get().has_value());
  c.put(fragile(4));
  get_and_throw(c);  // what came back ends with the collection
}

// Each get began while nothing had come back, and then all came back: a list that takes long to walk.
void all_come_back(interrupted& c, long n) {
  for (long i = 0; i != n; ++i) c.put(fragile(i));
  std::function<void()> another = [&] {
    if (--n == 0) return;
    c.meanwhile = another;
    get_and_throw(c);
    fragile::throws = true;
  };
  c.meanwhile = another;
  get_and_throw(c);
}

TEST(collection, is_not_empty_while_more_came_back_than_are_being_got) {
  constexpr long all = 2'000, threads = 2;
  interrupted c;
  all_come_back(c, all);
  ASSERT_TRUE(c.inside.empty());
  atomic<long> got{0}, wrong{0};
  std::vector<std::thread> getters;
  for (long t = 0; t != threads; ++t) {
    getters.emplace_back([&] {
      while (got.load(order::relaxed) != all) {
        if (c.get()) got.fetch_add(1, order::relaxed);
        else if (all - got.load(order::relaxed) > threads) wrong.fetch_add(1, order::relaxed);
      }
    });
  }
  for (std::thread& t : getters) t.join();
  EXPECT_EQ(wrong.load(order::relaxed), 0);
}

// As many as there are: if one sleeps beside an element, this does not end.
TEST(collection, who_waits_gets_what_came_back) {
  constexpr long threads = 4, each = 25;
  eager::drained<smr::debra> d;
  blocking<ms_queue<fragile, smr::debra>> q(d);
  for (int round = 0; round != 50; ++round) {
    for (long i = 0; i != threads * each; ++i) q.put(fragile(i));
    std::barrier<> all_came_back(threads);
    std::vector<std::thread> getters;
    for (long t = 0; t != threads; ++t) {
      getters.emplace_back([&] {
        fragile::throws = true;
        for (long i = 0; i != 20 * each; ++i) {
          try {
            static_cast<void>(q.get());
          } catch (const std::runtime_error&) {
          }
        }
        fragile::throws = false;
        all_came_back.arrive_and_wait();
        for (long i = 0; i != each; ++i) EXPECT_TRUE(q.wait_get().has_value());
      });
    }
    for (std::thread& t : getters) t.join();
  }
}

// Neither assignable nor sure to be moved without a throw: there is no way back into the value that it was moved from.
struct only_made {
  static inline int moves_left = -1;
  static inline std::vector<const void*> alive;
  static inline int destroyed_twice = 0;
  const long n;
  explicit only_made(long i) : n(i) { alive.push_back(this); }
  only_made(only_made&& other) : n(other.n) {
    if (moves_left >= 0 && moves_left-- == 0) throw std::runtime_error("a move");
    alive.push_back(this);
  }
  ~only_made() { destroyed_twice += std::erase(alive, this) != 1; }
};

TEST(collection, what_is_refused_is_destroyed_once) {
  {
    eager::drained<smr::debra> d;
    vyukov_ring<only_made, smr::debra> q(2);
    ASSERT_TRUE(q.put(only_made(1)));
    ASSERT_TRUE(q.put(only_made(2)));
    only_made third(3);
    only_made::moves_left = 1;
    EXPECT_FALSE(q.put(std::move(third)));
    only_made::moves_left = -1;
  }
  EXPECT_EQ(only_made::destroyed_twice, 0);
  EXPECT_TRUE(only_made::alive.empty());
}

}  // namespace
}  // namespace polder::ds
