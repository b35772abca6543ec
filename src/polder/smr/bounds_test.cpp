// What schemes state about bounds, and what is particular to those that publish: slots, eras, looks.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <polder/base/check.hpp>
#include <polder/base/sanitizers.hpp>
#include <polder/smr/all.hpp>
#include <polder/smr/schemes_test.hpp>
#include <thread>
#include <vector>

// In a checked build the ledger itself wants memory for each retired object.
#if !POLDER_SANITIZED && POLDER_CHECK_LEVEL == 0
#define POLDER_TEST_OOM 1
namespace {
// No memory for this thread, while it says so.
thread_local bool no_memory = false;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t n) {
  if (!no_memory) {
    if (void* const p = std::malloc(n)) return p;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return no_memory ? nullptr : std::malloc(n);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace {

using polder::atomic;
using polder::order;
using polder::type_list;
using namespace polder::smr;

template <class R>
struct node : R::header {
  static constexpr long whole = 0x5a5a5a5a;
  long value = whole;
  atomic<node*> next{nullptr};
  ~node() { value = 0; }
};

using publishing = type_list<hazard, hazard_eras, interval, wait_free_eras>;
template <class R>
class publishing_schemes : public testing::Test {};
TYPED_TEST_SUITE(publishing_schemes, tests_of<publishing>::types, names_of_schemes);

// The list is as long as `length` while a reader stalls on its first node; then all of it and a million more are retired.
TYPED_TEST(publishing_schemes, keep_the_bound_they_state_through_a_million_retires) {
  using R = TypeParam;
  constexpr int length = 100, births_an_era = 128, retires_a_look = 128;
#if POLDER_SANITIZED
  constexpr int many = 100'000;
#else
  constexpr int many = 1'000'000;
#endif
  typename R::domain d;
  std::vector<atomic<node<R>*>> places(length);
  for (auto& p : places) {
    typename R::template guard<1> g(d);
    p.store(g.template make<node<R>>(), order::release);
  }
  atomic<bool> stalled{false}, over{false};
  std::thread reader([&] {
    typename R::template guard<1> g(d);
    const node<R>* const held = g.protect(0, places[0]);
    stalled.store(true, order::release);
    while (!over.load(order::acquire)) std::this_thread::yield();
    EXPECT_EQ(held->value, node<R>::whole);
  });
  while (!stalled.load(order::acquire)) std::this_thread::yield();
  std::uint64_t most = 0;
  for (int n = 0; n != many; ++n) {
    typename R::template guard<1> g(d);
    g.retire(places[std::size_t(n) % length].exchange(g.template make<node<R>>(), order::acq_rel));
    if (n % 61 == 0) most = std::max(most, d.statistics().unreclaimed());
  }
  // What the reader may keep, K: of pointers the one; of eras what lived then, and was born in the era of two threads.
  const std::uint64_t kept = R::info.words_per_object == 0 ? 2 * 8 : length + 2 * births_an_era;
  const std::uint64_t bound = kept + std::max<std::uint64_t>(retires_a_look, kept / 2);
  std::printf("%.*s: at most %llu unreclaimed, bound %llu\n", int(R::info.name.size()), R::info.name.data(),
              static_cast<unsigned long long>(most), static_cast<unsigned long long>(bound));
  EXPECT_LE(most, bound);
  over.store(true, order::release);
  reader.join();
  d.drain();
  for (auto& p : places) delete p.load(order::relaxed);
}

// Hands over hand: slot 0 holds what slot 1 protects, again and again, while everything it passes is retired.
TYPED_TEST(publishing_schemes, hold_in_one_slot_what_another_keeps) {
  using R = TypeParam;
  typename R::domain d;
  atomic<node<R>*> shared{new node<R>};
  atomic<bool> over{false};
  std::thread writer([&] {
    while (!over.load(order::acquire)) {
      typename R::template guard<1> g(d);
      g.retire(shared.exchange(g.template make<node<R>>(), order::acq_rel));
    }
  });
  long broken = 0;
  for (int n = 0; n != 20'000; ++n) {
    typename R::template guard<3> g(d);
    const node<R>* const a = g.protect(1, shared);
    g.hold(0, a);
    const node<R>* const b = g.protect(1, shared);
    g.hold(2, b);
    g.hold(1, a);
    static_cast<void>(g.protect(0, shared));
    broken += a->value != node<R>::whole || b->value != node<R>::whole;  // 1 keeps a, 2 keeps b
    g.clear(2);
    broken += a->value != node<R>::whole;
  }
  EXPECT_EQ(broken, 0);
  over.store(true, order::release);
  writer.join();
  d.drain();
  delete shared.load(order::relaxed);
}

// More slots than a seat has, in guards that close in any order.
TYPED_TEST(publishing_schemes, nest_deeper_than_a_seat_has_slots) {
  using R = TypeParam;
  using guard = typename R::template guard<3>;
  typename R::domain d;
  for (int round = 0; round != 3; ++round) {
    std::vector<std::unique_ptr<guard>> guards;
    std::vector<atomic<node<R>*>> shared(20);
    for (auto& s : shared) {
      s.store(new node<R>, order::relaxed);
      guards.push_back(std::make_unique<guard>(d));
      static_cast<void>(guards.back()->protect(2, s));
    }
    std::vector<node<R>*> seen;
    for (auto& s : shared) seen.push_back(s.load(order::relaxed));
    std::thread([&] {
      typename R::template guard<1> g(d);
      for (auto& s : shared) g.retire(s.exchange(nullptr, order::acq_rel));
      for (int n = 0; n != 1000; ++n) g.retire(g.template make<node<R>>());
    }).join();
    for (std::size_t n = 0; n < guards.size(); n += 2) guards[n].reset();
    for (std::size_t n = 1; n < guards.size(); n += 2) EXPECT_EQ(seen[n]->value, node<R>::whole);
    typename R::template guard<11> wide(d);
    guards.clear();
  }
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
}

// An object of whose birth nothing is known, since `new` made it, is handed from an older guard to a younger one after its
// retirement, which a clock of later eras says nothing about.
TYPED_TEST(publishing_schemes, hold_what_an_older_guard_keeps_whoever_made_it) {
  using R = TypeParam;
  static bool gone;
  gone = false;
  struct told : R::header {
    ~told() { gone = true; }
  };
  typename R::domain d;
  const auto look = [&](told* retired) {
    std::thread([&] {
      typename R::template guard<1> g(d);
      if (retired != nullptr) g.retire(retired);
      for (int n = 0; n != 1000; ++n) g.retire(g.template make<node<R>>());
    }).join();
  };
  atomic<told*> shared{new told};
  {
    typename R::template guard<1> older(d);
    told* const held = older.protect(0, shared);
    typename R::template guard<1> younger(d);
    look(shared.exchange(nullptr, order::acq_rel));
    younger.hold(0, held);
    younger.hold(0, held);
    older.clear(0);
    look(nullptr);
    EXPECT_FALSE(gone);
  }
  d.drain();
  EXPECT_TRUE(gone);
}

TEST(hazard_pointers, forget_what_a_closed_guard_held) {
  hazard::domain d;
  atomic<node<hazard>*> shared{new node<hazard>};
  {
    hazard::guard<2> outer(d);
    {
      hazard::guard<2> inner(d);
      static_cast<void>(inner.protect(0, shared));
      static_cast<void>(inner.protect(1, shared));
    }
    static bool gone;
    gone = false;
    outer.retire(shared.exchange(nullptr, order::acq_rel), [](node<hazard>* n) { gone = true, delete n; });
    for (int n = 0; n != 1000; ++n) outer.retire(outer.make<node<hazard>>());
    EXPECT_TRUE(gone);
    EXPECT_LE(d.statistics().unreclaimed(), 128u);
    EXPECT_EQ(d.scheme().slots(), 8u);
    std::thread([&] { hazard::guard<1> g(d); }).join();
    EXPECT_EQ(d.scheme().slots(), 16u);
  }
  d.drain();
}

// An era begins with the births that are asked for, or with each: 0 is no other way to say never.
using counting_births = type_list<hazard_eras, interval, wait_free_eras>;
template <class R>
class schemes_of_eras : public testing::Test {};
TYPED_TEST_SUITE(schemes_of_eras, tests_of<counting_births>::types, names_of_schemes);

TYPED_TEST(schemes_of_eras, begin_one_with_each_birth_or_so_many) {
  using R = TypeParam;
  constexpr int births = 100;
  for (const unsigned births_an_era : {0u, 1u, 10u}) {
    typename R::domain::options chosen;
    chosen.scheme.births_an_era = births_an_era;
    typename R::domain d(chosen);
    const era before = d.scheme().clock.now();
    for (int n = 0; n != births; ++n) {
      typename R::template guard<1> g(d);
      g.unmake(g.template make<node<R>>());
    }
    EXPECT_EQ(d.scheme().clock.now() - before, era(births_an_era == 10 ? births / 10 : births)) << births_an_era;
  }
}

// A member that idles is passed over when somebody has looked for the token in vain so many times, or once: 0 is no other way
// to say never.
TEST(token_holders, that_idle_are_passed_over_whatever_the_patience) {
  for (const unsigned patience : {0u, 1u, 4u}) {
    token::domain::options chosen;
    chosen.scheme.patience = patience;
    token::domain d(chosen);
    atomic<bool> idles{false}, over{false};
    std::thread idle([&] {
      { token::guard<1> g(d); }
      idles.store(true, order::release);
      while (!over.load(order::acquire)) std::this_thread::yield();
    });
    while (!idles.load(order::acquire)) std::this_thread::yield();
    for (int n = 0; n != 20'000; ++n) {
      token::guard<1> g(d);
      g.retire(g.make<node<token>>());
    }
    EXPECT_LT(d.statistics().unreclaimed(), 2000u) << patience;
    over.store(true, order::release);
    idle.join();
    d.drain();
  }
}

// Readers that never try twice alone, one pointer after the other, while each birth moves the clock.
TEST(wait_free_era_readers, that_ask_for_every_word) {
  using R = wait_free_eras;
  R::domain::options chosen;
  chosen.scheme.tries = 0;
  chosen.scheme.births_an_era = chosen.scheme.retires_a_look = 1;
  R::domain d(chosen);
  const auto two = [](R::guard<2>& g) {
    node<R>* const made = g.make<node<R>>();
    made->next.store(g.make<node<R>>(), order::relaxed);
    return made;
  };
  atomic<node<R>*> head{nullptr};
  {
    R::guard<2> g(d);
    head.store(two(g), order::release);
  }
  atomic<long> broken{0}, read{0};
  std::vector<std::thread> readers;
  for (int t = 0; t != 2; ++t) {
    readers.emplace_back([&] {
      for (int n = 0; n != 20'000; ++n) {
        R::guard<2> g(d);
        const node<R>* const a = g.protect(0, head);
        const node<R>* const b = g.protect(1, a->next);
        if (head.load(order::acquire) != a) continue;
        broken.fetch_add(a->value != node<R>::whole || b->value != node<R>::whole, order::relaxed);
        read.fetch_add(1, order::relaxed);
      }
    });
  }
  for (int n = 0; n != 20'000; ++n) {
    R::guard<2> g(d);
    node<R>* const old = head.exchange(two(g), order::acq_rel);
    g.retire(old->next.load(order::relaxed));
    g.retire(old);
  }
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(broken.load(order::relaxed), 0);
  EXPECT_GT(read.load(order::relaxed), 0);
  d.drain();
  delete head.load(order::relaxed)->next.load(order::relaxed);
  delete head.load(order::relaxed);
}

template <class R>
class every_scheme : public testing::Test {};
TYPED_TEST_SUITE(every_scheme, tests_of<tested>::types, names_of_schemes);

// Treiber's stack, whose pop reads a node that another may have retired: use after free is what the sanitizer sees, and
// whoever reads a node that is not whole.
TYPED_TEST(every_scheme, a_stack_under_four_threads) {
  using R = TypeParam;
  typename R::domain d;
  atomic<node<R>*> top{nullptr};
  atomic<long> broken{0}, left{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n != 5000; ++n) {
        typename R::template guard<1> g(d);
        if (n % 2 == 0) {
          node<R>* const made = g.template make<node<R>>();
          node<R>* seen = top.load(order::relaxed);
          do {
            made->next.store(seen, order::relaxed);
          } while (!top.cas(seen, made, order::release, order::relaxed));
          left.fetch_add(1, order::relaxed);
          continue;
        }
        for (;;) {
          node<R>* seen = g.protect(0, top);
          if (seen == nullptr) break;
          if (seen->value != node<R>::whole) broken.fetch_add(1, order::relaxed);
          node<R>* const next = seen->next.load(order::relaxed);
          if (!top.cas(seen, next, order::acq_rel, order::relaxed)) continue;
          g.retire(seen);
          left.fetch_sub(1, order::relaxed);
          break;
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(broken.load(order::relaxed), 0);
  while (node<R>* const n = top.load(order::relaxed)) {
    top.store(n->next.load(order::relaxed), order::relaxed);
    delete n;
    left.fetch_sub(1, order::relaxed);
  }
  EXPECT_EQ(left.load(order::relaxed), 0);
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
}

#if defined(POLDER_TEST_OOM)
// The allocator refuses while objects are retired: each is freed in the end, and once.
TYPED_TEST(every_scheme, lose_nothing_when_memory_is_out) {
  using R = TypeParam;
  if (R::info.name == "leaky") GTEST_SKIP() << R::info.bound;
  static long destroyed;
  destroyed = 0;
  struct told : R::header {
    ~told() { ++destroyed; }
  };
  typename R::domain d;
  for (int n = 0; n != 1000; ++n) {  // so that there are chunks
    typename R::template guard<1> g(d);
    g.retire(g.template make<told>());
  }
  std::vector<told*> made;
  for (int n = 0; n != 2000; ++n) made.push_back(new told);
  no_memory = true;
  for (told* t : made) {
    typename R::template guard<1> g(d);
    g.retire(t);
  }
  no_memory = false;
  d.drain();
  EXPECT_EQ(destroyed, 3000);
}

// Who retires holds what it reads on, and so keeps the token, however much is freed to make room for a record.
using passing_while_freeing = type_list<token_periodic, token>;
template <class R>
class token_schemes : public testing::Test {};
TYPED_TEST_SUITE(token_schemes, tests_of<passing_while_freeing>::types, names_of_schemes);

TYPED_TEST(token_schemes, keep_the_token_in_a_guard_when_memory_is_out) {
  using R = TypeParam;
  struct nothing {
    void operator()(long*) const {}
  };
  typename R::domain d({.drain = {.how = drain_policy::way::amortized}});
  std::vector<long> objects(40'000);
  std::size_t next = 0;
  {
    typename R::template guard<1> g(d);
    while (next != objects.size() / 2) g.retire(&objects[next++], nothing{});
  }
  while (d.statistics().reclaimed < 100) typename R::template guard<1> g(d);
  {
    typename R::template guard<1> g(d);
    const std::uint64_t rounds = d.scheme().rounds(), reclaimed = d.statistics().reclaimed;
    no_memory = true;
    while (next != objects.size() && d.statistics().reclaimed == reclaimed) g.retire(&objects[next++], nothing{});
    no_memory = false;
    EXPECT_GT(d.statistics().reclaimed, reclaimed + 1000);
    EXPECT_EQ(d.scheme().rounds(), rounds);
  }
  d.drain();
}

TEST(leaky_scheme, ends_with_a_line_when_memory_for_a_record_is_out) {
#ifndef __x86_64__
  GTEST_SKIP() << "an emulator cannot begin the death test's process";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        leaky::domain d;
        leaky::guard<1> g(d);
        node<leaky>* const n = g.make<node<leaky>>();
        no_memory = true;
        g.retire(n);
      },
      "leaky: out of memory: no room for the record of a retired object");
}
#endif

}  // namespace
