// The maps whose searches are read phases, under reclaimers that begin them anew all the time: signals rain, nodes are freed as
// soon as they may be, and poisoned; threads come when others are at it, and end.
#include <gtest/gtest.h>
#include <sched.h>

#include <random>
#include <thread>
#include <vector>

#include <polder/base/sanitizers.hpp>
#include <polder/ds/deque/ts_deque.hpp>
#include <polder/ds/queue/lock_based_queue.hpp>
#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/suits.hpp>
#include <polder/ds/tree/abtree.hpp>
#include <polder/ds/tree/hash_map.hpp>
#include <polder/ds/tree/list_set.hpp>
#include <polder/ds/tree/skip_list.hpp>
#include <polder/smr/epoch/epoch.hpp>
#include <polder/smr/hazard/hazard.hpp>
#include <polder/smr/neutral/debra_plus.hpp>
#include <polder/smr/neutral/nbr.hpp>

namespace polder::ds {
namespace {

#if POLDER_SANITIZED
constexpr int operations = 1000;
#else
constexpr int operations = 2000;
#endif

// Whoever reads one that was freed ends the process.
class poisoned {
 public:
  explicit poisoned(long n = 0) noexcept : number_(n), seal_(~n) {}
  // Copied between phases: what is reserved stays that long.
  poisoned(const poisoned& other) noexcept : number_(other.read()), seal_(~number_) {
    static thread_local unsigned turn = 0;
    if (++turn % 8 == 0) sched_yield();
    static_cast<void>(other.read());
  }
  poisoned& operator=(const poisoned&) = delete;
  ~poisoned() { seal_ = number_; }
  long read() const noexcept {
    const long n = number_;
    if (seal_ != ~n) __builtin_trap();
    return n;
  }
  friend bool operator<(const poisoned& a, const poisoned& b) noexcept { return a.read() < b.read(); }

 private:
  volatile long number_, seal_;
};

struct hash_poisoned {
  std::uint64_t operator()(const poisoned& p) const noexcept { return std::uint64_t(p.read()) << 62; }
};

template <class R>
using list = list_set<poisoned, poisoned, R>;
template <class R>
using hash = hash_map<poisoned, poisoned, R, hash_poisoned>;
template <class R>
using tree = abtree<poisoned, poisoned, R, 2, 3>;  // each update splits or joins

template <class M>
class restarted : public testing::Test {};
using subjects =
    testing::Types<list<smr::nbr>, hash<smr::nbr>, tree<smr::nbr>, list<smr::debra_plus>, tree<smr::debra_plus>>;
TYPED_TEST_SUITE(restarted, subjects);

template <class R>
std::vector<typename R::domain::options> eager_options() {
  if constexpr (std::is_same_v<R, smr::nbr>) {
    return {{.scheme = {.retires_a_round = 2}},
            {.scheme = {.retires_a_round = 2, .delivered = smr::delivery::by_the_kernel}}};
  } else {
    typename R::domain::options o;
    o.scheme.operations_a_check = o.scheme.operations_an_epoch = 1;
    o.scheme.suspect_above = 2;
    return {o};
  }
}

// Tells whoever is in a phase, and, for no reason, whoever ever was.
template <class Domain>
void rain(const Domain& d) {
  for (auto* m = d.members().first(); m != nullptr; m = m->next) {
    if (const auto w = m->seat.reads.phase.current(); w != 0) {
      m->seat.reads.phase.ask(w);
      m->seat.reads.tell();
    }
  }
}

template <class M>
long work(M& map, std::uint64_t seed, long keys, atomic<long>& done) {
  std::mt19937_64 random(seed);
  long sum = 0;
  for (int n = 0; n != operations; ++n) {
    done.fetch_add(1, order::relaxed);
    const long k = long(random() % std::uint64_t(keys));
    switch (random() % 6) {
      case 0:
      case 1: sum += map.insert(poisoned(k), poisoned(k)) ? k : 0; break;
      case 2: sum -= map.erase(poisoned(k)) ? k : 0; break;
      case 3:
        if (const auto taken = map.take(poisoned(k))) sum -= taken->read();
        break;
      case 4:
        if (const auto got = map.get(poisoned(k)); got && got->read() != k) __builtin_trap();
        break;
      default: map.contains(poisoned(k));
    }
  }
  return sum;
}

// One thread fills the map; six work on it, three at a time; signals all along, in showers with an operation between: who
// is sent them faster than a phase is run would never end one. As published, NBR+ fails when fewer threads
// fill a structure than work on it.
TYPED_TEST(restarted, what_was_inserted_less_what_was_erased_is_there) {
  using M = TypeParam;
  using R = typename M::reclaimer_type;
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  for (const auto& options : eager_options<R>()) {
    typename R::domain domain(options);
    {
      M map(domain);
      constexpr long keys = 40;
      atomic<long> sum{0}, done{0};
      for (long k = 0; k < keys; k += 2) {
        if (map.insert(poisoned(k), poisoned(k))) sum.fetch_add(k, order::relaxed);
      }
      atomic<bool> over{false};
      std::thread telling([&] {
        while (!over.load(order::acquire)) {
          const long before = done.load(order::relaxed);
          for (int n = 0; n != 20; ++n) rain(domain);
          while (done.load(order::relaxed) == before && !over.load(order::acquire)) sched_yield();
        }
      });
      for (int wave = 0; wave != 2; ++wave) {
        std::vector<std::thread> threads;
        for (int t = 0; t != 3; ++t) {
          threads.emplace_back([&, t] {
            sum.fetch_add(work(map, seed + std::uint64_t(wave * 3 + t), keys, done), order::relaxed);
            if (t == 0) domain.detach();
          });
        }
        for (std::thread& t : threads) t.join();
      }
      over.store(true, order::release);
      telling.join();
      map.validate();
      long there = 0;
      map.for_each_quiescent([&](const poisoned& k, const poisoned& v) {
        EXPECT_EQ(k.read(), v.read());
        there += k.read();
      });
      EXPECT_EQ(there, sum.load(order::relaxed));
    }
    domain.drain();
    EXPECT_EQ(domain.statistics().unreclaimed(), 0u);
  }
}

// What cannot restart is refused, with the reason.
TEST(unsuited, is_told_with_the_reason) {
  constexpr map_info cannot = skip_list<long, long, smr::debra_plus>::info;
  EXPECT_EQ(unsuited<smr::debra_plus>(cannot),
            "this reclaimer restarts readers, and the structure's searches are not read phases");
  EXPECT_EQ(unsuited<smr::nbr>(cannot), "this reclaimer protects single pointers, and the structure needs regions");
  EXPECT_EQ(unsuited<smr::nbr>(list<smr::nbr>::info), "");
  EXPECT_EQ(unsuited<smr::debra_plus>(tree<smr::debra_plus>::info), "");
}

TEST(unsuited, is_told_of_collections_too) {
  constexpr collection_info none = lock_based_queue<long, smr::nbr>::info;
  constexpr collection_info nodes = ms_queue<long, smr::nbr>::info;
  constexpr collection_info regions = ts_deque_atomic<long, smr::nbr>::info;
  EXPECT_EQ(unsuited<smr::hazard>(regions),
            "this reclaimer protects single pointers, and the structure needs regions");
  EXPECT_EQ(unsuited<smr::nbr>(nodes),
            "this reclaimer restarts readers, and the structure's searches are not read phases");
  EXPECT_EQ(unsuited<smr::hazard>(nodes), "");
  EXPECT_EQ(unsuited<smr::debra>(regions), "");
  EXPECT_EQ(unsuited<smr::nbr>(none), "");
}

}  // namespace
}  // namespace polder::ds
