// Every scheme of the registry (sanitizers: one of each algorithm), by every drain: what smr/reclaimer.hpp promises.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <polder/base/sanitizers.hpp>
#include <polder/smr/all.hpp>
#include <polder/smr/drain.hpp>
#include <polder/smr/schemes_test.hpp>
#include <polder/smr/steps_test.hpp>
#include <thread>
#include <vector>

namespace {

using polder::atomic;
using polder::order;
using namespace polder::smr;

// What was made and not yet destroyed.
struct counted_life {
  static inline atomic<long> lives{0};
  counted_life() { lives.fetch_add(1, order::relaxed); }
  counted_life(const counted_life&) = delete;
  ~counted_life() { lives.fetch_sub(1, order::relaxed); }
  static long now() { return lives.load(order::relaxed); }
};

template <class R>
struct object : R::header, counted_life {
  static constexpr int whole = 0x1234567;
  int value = whole;
  ~object() { value = 0; }
};

template <class R>
class reclaimers : public testing::Test {
 public:
  using domain = typename R::domain;
  using options = typename domain::options;
  using guard = typename R::template guard<2>;
  using node = object<R>;

  // One test under each drain, each with a domain of its own; at its end everything is reclaimed.
  template <class F>
  static void by_every_drain(F&& f) {
    for (const named_drain& way : all_drains) {
      SCOPED_TRACE(way.name);
      const long before = counted_life::now();
      domain d(options{.drain = way.policy});
      f(d);
      d.drain();
      EXPECT_EQ(d.statistics().unreclaimed(), 0u);
      EXPECT_EQ(d.statistics().unreclaimed_bytes(), 0u);
      EXPECT_EQ(counted_life::now(), before);
    }
  }

  // Leaky alone frees nothing before drain().
  static constexpr bool leaks = R::info.name == "leaky";
  static void freed_but_a_few(domain& d) {
    const garbage now = d.statistics();
    if (leaks) EXPECT_EQ(now.reclaimed, 0u);
    else EXPECT_LT(now.unreclaimed(), 2'000u);
  }

  static void retire_some(domain& d, int n) {
    for (; n != 0; --n) {
      guard g(d);
      g.retire(g.template make<node>());
    }
  }
};

TYPED_TEST_SUITE(reclaimers, tests_of<tested>::types, names_of_schemes);

TYPED_TEST(reclaimers, states_itself) {
  static_assert(reclaimer<TypeParam>);
  constexpr scheme_info info = TypeParam::info;
  for (const std::string_view text : {info.name, info.title, info.paper, info.bound, info.stall})
    EXPECT_FALSE(text.empty());
  for (const std::string_view text : {info.readers, info.retirers})
    EXPECT_TRUE(text.starts_with("wait-free") || text.starts_with("lock-free") || text.starts_with("blocking"))
        << text;
  EXPECT_GE(info.year, 1980);
  EXPECT_EQ(sizeof(typename TypeParam::header),
            info.words_per_object == 0 ? 1 : info.words_per_object * sizeof(void*));
}

TYPED_TEST(reclaimers, keep_what_a_guard_protects) {
  using node = typename TestFixture::node;
  TestFixture::by_every_drain([](auto& d) {
    atomic<node*> shared{new node};
    typename TestFixture::guard mine(d);
    node* const held = mine.protect(0, shared);
    std::thread([&] {
      {
        typename TestFixture::guard g(d);
        g.retire(shared.exchange(nullptr, order::acq_rel));
      }
      TestFixture::retire_some(d, 3000);
    }).join();
    EXPECT_EQ(held->value, node::whole);
  });
}

// A deleter with state waits in the object's place; guards know nothing of that.
TYPED_TEST(reclaimers, keep_what_a_guard_protects_whatever_deletes_it) {
  using node = typename TestFixture::node;
  TestFixture::by_every_drain([](auto& d) {
    static atomic<bool> gone;  // until the drain
    gone.store(false, order::relaxed);
    atomic<node*> shared{new node};
    typename TestFixture::guard mine(d);
    static_cast<void>(mine.protect(0, shared));
    std::thread([&] {
      {
        typename TestFixture::guard g(d);
        g.retire(shared.exchange(nullptr, order::acq_rel), [told = &gone](node* n) {
          told->store(true, order::relaxed);
          delete n;
        });
      }
      TestFixture::retire_some(d, 3000);
    }).join();
    EXPECT_FALSE(gone.load(order::relaxed));
  });
}

TYPED_TEST(reclaimers, reclaim_while_others_work) {
  using node = typename TestFixture::node;
  TestFixture::by_every_drain([](auto& d) {
    atomic<node*> shared{new node};
    std::vector<std::thread> threads;
    atomic<int> broken{0};
    for (int t = 0; t != 4; ++t) {
      threads.emplace_back([&] {
        for (int n = 0; n != 3000; ++n) {
          typename TestFixture::guard g(d);
          if (node* const old = shared.exchange(g.template make<node>(), order::acq_rel)) g.retire(old);
          if (node* const seen = g.protect(1, shared); seen != nullptr && seen->value != node::whole)
            broken.fetch_add(1, order::relaxed);
        }
      });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(broken.load(order::relaxed), 0);
    EXPECT_EQ(d.statistics().retired, 4u * 3000);
    delete shared.load(order::relaxed);
  });
}

// Without drain(): the work of going on must be enough.
TYPED_TEST(reclaimers, reclaim_by_going_on) {
  typename TestFixture::domain d(typename TestFixture::options{.drain = {}});
  TestFixture::retire_some(d, 100'000);
  TestFixture::freed_but_a_few(d);
  d.drain();
}

TYPED_TEST(reclaimers, drain_what_idle_threads_hold) {
  TestFixture::by_every_drain([](auto& d) {
    atomic<bool> retired{false}, over{false};
    std::thread other([&] {
      TestFixture::retire_some(d, 50);
      retired.store(true, order::release);
      while (!over.load(order::acquire)) std::this_thread::yield();
      TestFixture::retire_some(d, 50);  // its seat was claimed meanwhile
    });
    while (!retired.load(order::acquire)) std::this_thread::yield();
    TestFixture::retire_some(d, 7);
    d.drain();
    EXPECT_EQ(d.statistics().unreclaimed(), 0u);
    over.store(true, order::release);
    other.join();
  });
}

TYPED_TEST(reclaimers, strand_nothing_of_threads_that_come_and_go) {
  typename TestFixture::domain d(typename TestFixture::options{.drain = {}});
  constexpr int crowd = 30;
  for (int round = 0; round != 5; ++round) {
    // All of them at once, so that each has a seat of its own, and the last ones' seats stay empty.
    std::vector<std::thread> threads;
    atomic<int> there{0};
    for (int t = 0; t != crowd; ++t) {
      threads.emplace_back([&] {
        there.fetch_add(1, order::relaxed);
        while (there.load(order::relaxed) != crowd) std::this_thread::yield();
        typename TestFixture::guard g(d);
        for (int n = 0; n != 200; ++n) g.retire(g.template make<typename TestFixture::node>());
      });
    }
    for (std::thread& t : threads) t.join();
  }
  TestFixture::retire_some(d, 20'000);
  TestFixture::freed_but_a_few(d);
  d.drain();
}

TYPED_TEST(reclaimers, do_not_wait_for_who_idles_outside) {
  if (std::string_view(TypeParam::info.name) == "qsbr") GTEST_SKIP() << TypeParam::info.stall;
  typename TestFixture::domain d(typename TestFixture::options{.drain = {}});
  atomic<bool> idle{false}, over{false};
  std::thread other([&] {
    { typename TestFixture::guard g(d); }
    idle.store(true, order::release);
    while (!over.load(order::acquire)) std::this_thread::yield();
  });
  while (!idle.load(order::acquire)) std::this_thread::yield();
  TestFixture::retire_some(d, 100'000);
  TestFixture::freed_but_a_few(d);
  over.store(true, order::release);
  other.join();
  d.drain();
}

// A reader that stalls inside, holding one pointer, under many retires.
TYPED_TEST(reclaimers, keep_their_bound_under_a_stalled_reader) {
  using node = typename TestFixture::node;
  typename TestFixture::domain d(typename TestFixture::options{.drain = {}});
  atomic<node*> shared{new node};
  atomic<bool> stalled{false}, over{false};
  std::thread reader([&] {
    typename TestFixture::guard g(d);
    node* const held = g.protect(0, shared);
    stalled.store(true, order::release);
    while (!over.load(order::acquire)) std::this_thread::yield();
    EXPECT_EQ(held->value, node::whole);
  });
  while (!stalled.load(order::acquire)) std::this_thread::yield();
  constexpr int many = 50'000;
  for (int n = 0; n != many; ++n) {
    typename TestFixture::guard g(d);
    g.retire(shared.exchange(g.template make<node>(), order::acq_rel));
  }
  if (TypeParam::info.bounded) EXPECT_LT(d.statistics().unreclaimed(), std::uint64_t{many / 4});
  else EXPECT_GT(d.statistics().unreclaimed(), std::uint64_t{many - 1000});
  over.store(true, order::release);
  reader.join();
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
  delete shared.load(order::relaxed);
}

TYPED_TEST(reclaimers, wait_in_synchronize_for_open_guards) {
  typename TestFixture::domain d;
  for (int round = 0; round != 50; ++round) {
    atomic<bool> inside{false};
    atomic<int> left{0};
    std::thread reader([&] {
      typename TestFixture::guard g(d);
      inside.store(true, order::release);
      std::this_thread::yield();
      left.store(1, order::release);
    });
    while (!inside.load(order::acquire)) std::this_thread::yield();
    d.synchronize();
    EXPECT_EQ(left.load(order::acquire), 1);
    reader.join();
  }
}

TYPED_TEST(reclaimers, nest) {
  using node = typename TestFixture::node;
  TestFixture::by_every_drain([](auto& d) {
    atomic<node*> shared{new node};
    typename TestFixture::guard outer(d);
    node* const held = outer.protect(0, shared);
    {
      typename TestFixture::guard inner(d);
      inner.retire(shared.exchange(nullptr, order::acq_rel));
    }
    for (int n = 0; n != 1000; ++n) {
      typename TestFixture::guard inner(d);
      inner.retire(inner.template make<node>());
    }
    EXPECT_EQ(held->value, node::whole);
  });
}

// A list whose nodes retire their successors when they are destroyed: as deep as it is long if that were a call.
template <class R>
struct link : R::header, counted_life {
  typename R::domain& home;
  link* next;
  link(typename R::domain& d, link* n) : home(d), next(n) {}
  ~link() {
    if (next == nullptr) return;
    typename R::template guard<1> g(home);
    g.retire(next);
  }
};

TYPED_TEST(reclaimers, retire_in_destructors_without_recursion) {
  TestFixture::by_every_drain([](auto& d) {
    link<TypeParam>* first = nullptr;
    for (int n = 0; n != 30'000; ++n) first = new link<TypeParam>(d, first);
    typename TestFixture::guard g(d);
    g.retire(first);
  });
}

TYPED_TEST(reclaimers, take_any_deleter) {
  TestFixture::by_every_drain([](auto& d) {
    auto told = std::make_shared<int>(0);
    typename TestFixture::guard g(d);
    g.retire(new counted_life, [told](counted_life* p) { ++*told, delete p; });
    g.retire(new counted_life, [](counted_life* p) { delete p; });
    g.retire(new counted_life, std::default_delete<counted_life>{});
    const auto fixed = [] { return static_cast<const counted_life*>(new counted_life); };
    g.retire(fixed());
    g.retire(fixed(), [told](const counted_life* p) { ++*told, delete p; });
    g.retire(fixed(), [](const counted_life* p) { delete p; });
    g.retire(fixed(), std::default_delete<const counted_life>{});
    EXPECT_LE(told.use_count(), 3);
  });
}

struct sized : counted_life {
  std::size_t bytes;
  explicit sized(std::size_t b) : bytes(b) {}
  std::size_t weight() const { return bytes; }
};

TYPED_TEST(reclaimers, weigh_what_waits) {
  typename TestFixture::domain d;
  {
    typename TestFixture::guard g(d);
    g.retire(new sized(1'000'000));
    EXPECT_EQ(d.statistics().retired_bytes, 1'000'000u);
    EXPECT_EQ(d.statistics().unreclaimed_bytes(), 1'000'000u);
    g.retire(new sized(2'000'000), [told = &d](sized* p) {
      EXPECT_NE(told, nullptr);
      delete p;
    });
    EXPECT_GE(d.statistics().retired_bytes, 3'000'000u);
  }
  d.drain();
  EXPECT_EQ(d.statistics().unreclaimed_bytes(), 0u);
}

TYPED_TEST(reclaimers, live_side_by_side) {
  using node = typename TestFixture::node;
  const long before = counted_life::now();
  for (int round = 0; round != 20; ++round) {  // a new domain where an old one was
    typename TestFixture::domain a, b;
    atomic<node*> shared{new node};
    {
      typename TestFixture::guard of_a(a);
      typename TestFixture::guard of_b(b);
      node* const held = of_a.protect(0, shared);
      of_b.retire(of_b.template make<node>());
      of_a.retire(shared.exchange(nullptr, order::acq_rel));
      EXPECT_EQ(held->value, node::whole);
    }
    {
      typename TestFixture::guard stays(a);
      b.drain();
    }  // a guard of another domain does not matter
    a.drain();
  }
  EXPECT_EQ(counted_life::now(), before);
}

// Guards in destructors of thread_local objects and of thread-specific data, in every round that there is.
template <class R>
struct at_exit {
  typename R::domain* d = nullptr;
  ~at_exit() {
    if (d != nullptr) reclaimers<R>::retire_some(*d, 3);
  }
};
template <class R>
at_exit<R>& leaving() {
  thread_local at_exit<R> of_thread;
  return of_thread;
}

template <class R>
struct rounds {
  static inline pthread_key_t key;
  static inline typename R::domain* d;
  static inline int left;
  static void again(void*) {
    reclaimers<R>::retire_some(*d, 5);
    if (--left > 0) pthread_setspecific(key, &left);
  }
};

TYPED_TEST(reclaimers, open_guards_at_the_end_of_a_thread) {
  const long before = counted_life::now();
  typename TestFixture::domain d(typename TestFixture::options{.drain = {}});
  using after = rounds<TypeParam>;
  ASSERT_EQ(pthread_key_create(&after::key, after::again), 0);
  after::d = &d;
#if POLDER_TSAN
  constexpr int times =
      PTHREAD_DESTRUCTOR_ITERATIONS - 1;  // in the last round ThreadSanitizer has forgotten the thread
#else
  constexpr int times = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif
  for (int n = 0; n != 20; ++n) {
    after::left = times;
    std::thread([&] {
      leaving<TypeParam>().d = &d;
      pthread_setspecific(after::key, &after::left);
      TestFixture::retire_some(d, 2);
    }).join();
  }
  d.drain();
  EXPECT_EQ(d.statistics().retired, 20u * (2 + 3 + 5 * times));
  EXPECT_EQ(d.statistics().unreclaimed(), 0u);
  EXPECT_EQ(counted_life::now(), before);
  pthread_key_delete(after::key);
}

TYPED_TEST(reclaimers, go_on_after_a_fork) {
#if POLDER_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked in the child by the thread that is not there";
#endif
  TestFixture::by_every_drain([](auto& d) {
    atomic<long> done{0};
    atomic<bool> over{false};
    std::thread other([&] {
      while (!over.load(order::acquire)) {
        TestFixture::retire_some(d, 10);
        done.fetch_add(1, order::release);
      }
    });
    const auto let_it_go_on = [&] {
      const long before = done.load(order::relaxed);
      while (done.load(order::acquire) == before) std::this_thread::yield();
    };
    let_it_go_on();
    TestFixture::retire_some(d, 10);
    // A batch that the other thread is moving from one bag to the next at that moment stays allocated in the child, and
    // one object that it is freeing; of several forks some find it elsewhere.
    bool all_reclaimed = false;
    for (int n = 0; n < 3 || (!all_reclaimed && n < 50); ++n) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        TestFixture::retire_some(d, 10);
        d.drain();
        _exit(d.statistics().unreclaimed() + 1 <= 2 ? 0 : 1);
      }
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << status;
      all_reclaimed = all_reclaimed || WEXITSTATUS(status) == 0;
      let_it_go_on();
    }
    EXPECT_TRUE(all_reclaimed);
    over.store(true, order::release);
    other.join();
  });
}

TYPED_TEST(reclaimers, keep_to_the_bound_that_is_set) {
  using options = typename TestFixture::options;
  static atomic<int> told;
  told.store(0, order::relaxed);
  options chosen{.drain = {.how = drain_policy::way::amortized, .an_operation = 0}};  // a drain that frees nothing
  chosen.bound = {.bytes = 64 * 1024, .passed = [](void*, const garbage&) { told.fetch_add(1, order::relaxed); }};
  typename TestFixture::domain d(chosen);
  TestFixture::retire_some(d, 50'000);
  EXPECT_GT(told.load(order::relaxed), 0);
  if (!TestFixture::leaks) {
    EXPECT_LT(d.statistics().unreclaimed_bytes(), 2u * 64 * 1024);
  }
  d.drain();
}

// Few objects that weigh much: counted alone they would be nothing to look at.
template <class R>
struct heavy : R::header {
  static constexpr std::size_t bytes = 10 << 20;
  std::size_t weight() const { return bytes; }
};

TYPED_TEST(reclaimers, keep_to_the_bound_with_objects_that_weigh_much) {
  using options = typename TestFixture::options;
  using node = heavy<TypeParam>;
  constexpr std::uint64_t bound = 64 << 20;
  constexpr int many = 500;
  static atomic<int> told;
  for (const bool one_stalls : {false, true}) {
    SCOPED_TRACE(one_stalls ? "a reader stalls" : "nobody stalls");
    told.store(0, order::relaxed);
    options chosen;
    chosen.bound = {.bytes = bound, .passed = [](void*, const garbage&) { told.fetch_add(1, order::relaxed); }};
    // So that the reader keeps what it holds, and not all of its era.
    if constexpr (requires { chosen.scheme.births_an_era; }) chosen.scheme.births_an_era = 1;
    typename TestFixture::domain d(chosen);
    atomic<node*> place{nullptr};
    const auto replace = [&] {
      typename TestFixture::guard g(d);
      if (node* const old = place.exchange(g.template make<node>(), order::acq_rel)) g.retire(old);
    };
    replace();
    steps done;
    std::thread reader([&] {
      if (!one_stalls) return;
      typename TestFixture::guard g(d);
      static_cast<void>(g.protect(0, place));
      done.reach(1);
      done.wait_for(2);
    });
    if (one_stalls) done.wait_for(1);
    std::uint64_t most = 0;
    for (int n = 0; n != many; ++n) {
      replace();
      most = std::max(most, d.statistics().unreclaimed_bytes());
      // This was the guard after the one in which the bound was passed, if it was.
      if (n == int(bound / node::bytes) + 1) {
        EXPECT_TRUE(most <= bound || told.load(order::relaxed) > 0);
      }
    }
    if (!TestFixture::leaks && (TypeParam::info.bounded || !one_stalls)) {
      EXPECT_LE(most, bound + bound / 2 + 2 * node::bytes);
    } else if (!requires { chosen.scheme.bytes_an_epoch; }) {  // with which an epoch ends that had that much
      EXPECT_LT(told.load(order::relaxed), many / 8);  // what cannot be freed is not looked at with each retire
    }
    done.reach(2);
    reader.join();
    d.drain();
    typename TestFixture::guard g(d);
    g.unmake(place.load(order::relaxed));
  }
}

#if POLDER_CHECK_LEVEL > 0
template <class R>
using misuse = reclaimers<R>;
TYPED_TEST_SUITE(misuse, tests_of<tested>::types, names_of_schemes);

TYPED_TEST(misuse, is_told) {
  using node = typename TestFixture::node;
  using guard = typename TestFixture::guard;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        typename TestFixture::domain d;
        guard g(d);
        node* const n = g.template make<node>();
        g.retire(n);
        g.retire(n);
      },
      "an object was retired twice");
  EXPECT_DEATH(
      {
        typename TestFixture::domain d;
        guard g(d);
        node* const n = g.template make<node>();
        for (int times = 0; times != 2; ++times) g.retire(n, [&d](node*) { static_cast<void>(d); });
      },
      "an object was retired twice");
  EXPECT_DEATH(
      {
        typename TestFixture::domain d;
        guard g(d);
        node* const n = g.template make<node>();
        g.retire(n, [&d](node*) { static_cast<void>(d); });
        g.retire(n);
      },
      "an object was retired twice");
  EXPECT_DEATH(
      {
        std::optional<typename TestFixture::domain> d(std::in_place);
        guard g(*d);
        d.reset();
      },
      "a domain was destroyed while threads hold guards of it: 1");
  EXPECT_DEATH(
      {
        typename TestFixture::domain d;
        guard g(d);
        g.retire(g.template make<node>());
      },
      "a domain was destroyed with retired objects, drain\\(\\) comes first: 1");
  EXPECT_DEATH(
      {
        typename TestFixture::domain d;
        guard g(d);
        atomic<node*> shared{nullptr};
        static_cast<void>(g.protect(2, shared));
      },
      "there is no slot 2 in this guard");
  EXPECT_DEATH(
      {
        typename TestFixture::domain d;
        guard g(d);
        d.drain();
      },
      "drain\\(\\) inside a guard of the same domain");
}
#endif

}  // namespace
