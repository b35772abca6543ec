// Structures over a domain whose `bound.passed` throws: an operation that throws was not begun, so what goes in comes out,
// once. Those whose operations retire while they have an element in hand, open guards more than once, or number what they
// put, under each way in which a scheme comes to its bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <polder/base/some_types_test.hpp>
#include <polder/base/type_list.hpp>
#include <polder/ds/collection_info.hpp>
#include <polder/ds/queue/cts_queue.hpp>
#include <polder/ds/queue/kogan_petrank_queue.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/queue/random_dequeue_queue.hpp>
#include <polder/ds/queue/rts_queue.hpp>
#include <polder/ds/queue/ts_queue.hpp>
#include <polder/ds/stack/elimination_backoff_stack.hpp>
#include <polder/ds/stack/lru_ds.hpp>
#include <polder/ds/stack/treiber_stack.hpp>
#include <polder/ds/stack/ts_stack.hpp>
#include <polder/ds/tree/hash_map.hpp>
#include <polder/ds/tree/list_set.hpp>
#include <polder/ds/tree/skip_list.hpp>
#include <polder/smr/epoch/epoch.hpp>
#include <polder/smr/era/hazard_eras.hpp>
#include <polder/smr/era/interval.hpp>
#include <polder/smr/era/wait_free_eras.hpp>
#include <polder/smr/hazard/hazard.hpp>
#include <polder/smr/neutral/nbr.hpp>
#include <polder/smr/schemes_test.hpp>

namespace polder::ds {
namespace {

struct passed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Every second time.
struct thrower {
  static inline bool armed = false;
  static inline long told = 0;
  static void tell(void*, const smr::garbage&) {
    if (armed && ++told % 2 != 0) throw passed("the bound");
  }
};

// It looks often, and its drain frees nothing, so each look finds the bound passed.
template <class R>
typename R::domain::options looking_often() {
  typename R::domain::options o{.drain = {.how = smr::drain_policy::way::amortized, .an_operation = 0}};
  if constexpr (requires { o.scheme.operations_a_check; }) o.scheme.operations_a_check = 3;
  if constexpr (requires { o.scheme.retires_a_look; }) o.scheme.retires_a_look = 4;
  if constexpr (requires { o.scheme.retires_a_round; }) o.scheme.retires_a_round = 4;
  o.bound = {.bytes = 1, .passed = thrower::tell};
  return o;
}

// Calls f until it does not throw.
template <class F>
auto persist(F&& f) {
  for (;;) {
    try {
      return f();
    } catch (const passed&) {
    }
  }
}

template <class R>
class throwing_bound : public ::testing::Test {
 public:
  static constexpr long elements = 3000;
  static constexpr long last = -1;

  // What f was given and what it gave back, where f(domain, in, out) ends with a structure that is destroyed.
  template <class F>
  static void expect_the_same(std::string_view name, F&& f) {
    SCOPED_TRACE(name);
    std::vector<long> in, out;
    thrower::told = 0;
    typename R::domain d(looking_often<R>());
    f(d, in, out);
    d.drain();
    std::ranges::sort(in);
    std::ranges::sort(out);
    EXPECT_EQ(in.size(), out.size());
    EXPECT_TRUE(in == out);
    EXPECT_GT(thrower::told, 10);
  }

  template <class C>
  static void put_and_get(C& c, std::vector<long>& in, std::vector<long>& out) {
    thrower::armed = true;
    for (long n = 0; n != elements; ++n) {
      persist([&] { return c.put(long(n)); });
      in.push_back(n);
      if (n % 3 == 0) continue;
      if (const std::optional<long> got = persist([&] { return c.get(); })) out.push_back(*got);
    }
    thrower::armed = false;
    // Of those that wait none would come back from an empty one.
    if constexpr (C::info.empty == emptiness::waits) c.put(long(last));
    for (std::optional<long> got; (got = c.get()) && *got != last;) out.push_back(*got);
  }

  template <class M>
  static void insert_and_take(M& m, std::vector<long>& in, std::vector<long>& out) {
    constexpr long keys = 64;
    thrower::armed = true;
    for (long n = 0; n != elements; ++n) {
      const long key = n * 7 % keys;
      if (persist([&] { return m.insert(key, n); })) in.push_back(n);
      if (n % 3 == 0) continue;
      if (const std::optional<long> got = persist([&] { return m.take(key); })) out.push_back(*got);
    }
    thrower::armed = false;
    for (long key = 0; key != keys; ++key) {
      if (const std::optional<long> got = m.take(key)) out.push_back(*got);
    }
  }
};

using schemes = some_types<smr::wait_free_eras, smr::hazard_eras, smr::interval, smr::ebr, smr::nbr, smr::hazard>;
TYPED_TEST_SUITE(throwing_bound, schemes, smr::names_of_schemes);

TYPED_TEST(throwing_bound, loses_no_element) {
  using R = TypeParam;
  for_each(type_list<ms_queue<long, R>, kogan_petrank_queue<long, R>, random_dequeue_queue<long, R>,
                     rts_queue<long, R>, ts_queue_atomic<long, R, heap_memory>, cts_queue<long, R>,
                     treiber_stack<long, R>, elimination_backoff_stack<long, R>,
                     ts_stack_atomic<long, R, heap_memory>, lru_ds<long, R, heap_memory>>{},
           []<class C> {
             if constexpr (C::info.protection != needs::region || R::info.protects == smr::protection::region)
               TestFixture::expect_the_same(C::info.name, [](auto& domain, auto& in, auto& out) {
                 C c(domain);
                 TestFixture::put_and_get(c, in, out);
               });
           });
}

TYPED_TEST(throwing_bound, loses_no_value) {
  using R = TypeParam;
  for_each(type_list<list_set<long, long, R>, hash_map<long, long, R>, skip_list<long, long, R>>{}, []<class M> {
    if constexpr (suits<R>(M::info))
      TestFixture::expect_the_same(M::info.name, [](auto& domain, auto& in, auto& out) {
        M m(domain);
        TestFixture::insert_and_take(m, in, out);
      });
  });
}

}  // namespace
}  // namespace polder::ds
