// Chunks that belong to NUMA nodes: the arena's choice of a site for each, and the pool's search among them.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <polder/mem/fresh_arena_test.hpp>
#include <polder/mem/grain_pool.hpp>

namespace polder::mem {
namespace {

using run = grain_pool::run;

constexpr site a = site_of_node(0), b = site_of_node(1);

struct pooled : fresh_arena {
  explicit pooled(std::size_t chunks, chunk_number extra = 0) : fresh_arena(chunks * chunk_size, extra) {}
  grain_pool pool{it};
  trail lately;

  run take(unsigned n, site s) { return pool.take(n, lately, s); }
  site site_of(grain g) const { return it.chunk(chunk_of(g)).site.load(order::relaxed); }
  bool all_of(grain first, unsigned n, site s) const {
    for (unsigned i = 0; i != n; ++i)
      if (site_of(first + i) != s) return false;
    return true;
  }
};

TEST(sites, have_their_nodes) {
  EXPECT_EQ(no_site, site{});
  for (unsigned node = 0; node + 1 != sites; ++node) {
    ASSERT_NE(no_site, site_of_node(node));
    ASSERT_EQ(node, node_of_site(site_of_node(node)));
  }
  for (const unsigned node : {sites - 1, sites, 255u, 256u, 1023u}) EXPECT_EQ(no_site, site_of_node(node));
}

TEST(sites, nobody_asks_and_no_chunk_has_one) {
  pooled p(4, 1);
  for (unsigned i = 0; i != 4 * 64 - 1 + 64; ++i) ASSERT_NE(0u, p.take(1, no_site).first);
  for (chunk_number c = 0; c != 5; ++c) EXPECT_EQ(no_site, p.it.chunk(c).site.load(order::relaxed)) << c;
}

TEST(sites, a_step_back_to_another_is_none) {
  pooled p(4);
  const grain of_a = p.take(1, a).first, of_b = p.take(1, b).first;
  for (const grain g : {of_b, of_a}) {
    *p.it.address_of(g) = std::byte{1};
    ASSERT_TRUE(p.pool.give(g, 1));
    p.lately.note(g, 1);
  }
  p.lately.note(of_a, 1);
  EXPECT_EQ(of_b, p.take(1, b).first);
  EXPECT_EQ(of_a, p.take(1, a).first);
}

TEST(sites, each_has_chunks_of_its_own) {
  pooled p(64);
  for (int i = 0; i != 200; ++i) {
    const site s = i % 3 == 0 ? b : a;
    const run r = p.take(1 + unsigned(i % 7), s);
    ASSERT_NE(0u, r.first);
    ASSERT_TRUE(r.zero);
    ASSERT_TRUE(p.all_of(r.first, 1 + unsigned(i % 7), s)) << i;
  }
  EXPECT_LT(p.it.main_open(), 64u) << "and no more of them than need be";
}

TEST(sites, spare_memory_of_another_is_left_where_it_is) {
  pooled p(64);
  const run of_a = p.take(8, a);
  *p.it.address_of(of_a.first) = std::byte{1};
  ASSERT_TRUE(p.pool.give(of_a.first, 8));
  const run of_b = p.take(8, b);
  EXPECT_EQ(b, p.site_of(of_b.first));
  EXPECT_EQ(8u, p.pool.count().dirty);
  EXPECT_EQ(of_a.first, p.take(8, a).first) << "whose it is, has it first";
  EXPECT_EQ(0u, p.pool.count().dirty);
}

// What a search has found taken is found again once it is free, by its own site and by nobody's.
TEST(sites, clean_grains_given_back_are_found) {
  pooled p(64);
  std::vector<grain> of_a, of_b;
  for (int i = 0; i != 100; ++i) {
    of_a.push_back(p.take(1, a).first);
    of_b.push_back(p.take(1, b).first);
  }
  const chunk_number open = p.it.main_open();
  for (const site s : {a, b}) {
    const grain g = (s == a ? of_a : of_b)[7];
    ASSERT_TRUE(p.pool.give(g, 1, grain_pool::left::zero));
    EXPECT_EQ(g, p.take(1, s).first);
    ASSERT_TRUE(p.pool.give(g, 1, grain_pool::left::zero));
    EXPECT_EQ(g, p.take(1, no_site).first);
  }
  EXPECT_EQ(open, p.it.main_open());
}

TEST(sites, another_ones_memory_is_better_than_none) {
  pooled p(2, 1);
  std::set<grain> had;
  for (int i = 0; i != 2 * 64 - 1 + 64; ++i) {
    const run r = p.take(1, a);
    ASSERT_NE(0u, r.first) << i;
    ASSERT_TRUE(had.insert(r.first).second);
  }
  EXPECT_EQ(0u, p.take(1, b).first);
  ASSERT_TRUE(p.pool.give(*had.begin(), 1));
  EXPECT_EQ(*had.begin(), p.take(1, b).first);
  EXPECT_EQ(a, p.site_of(2 * 64)) << "extra chunks have a site too";
}

TEST(sites, runs_longer_than_a_chunk_lie_on_one) {
  pooled p(400);
  for (int i = 0; i != 40; ++i) {
    const site s = i % 2 == 0 ? a : b;
    const unsigned n = i % 5 == 0 ? grain_pool::longest : 65 + unsigned(i) * 7;
    const run r = p.take(n, s);
    ASSERT_NE(0u, r.first);
    ASSERT_TRUE(p.all_of(r.first, n, s)) << i;
  }
}

TEST(sites, room_for_a_long_run_is_opened_at_once) {
  fresh_arena f(32 * chunk_size);
  ASSERT_TRUE(f.it.open_more(grain_pool::longest, a));
  EXPECT_EQ(8u, f.it.main_open());
}

TEST(sites, a_run_does_not_grow_into_another_ones_chunk) {
  pooled p(64);
  const grain of_a = p.take(63, a).first;  // to the end of chunk 0
  const grain of_b = p.take(64, b).first;
  ASSERT_EQ(of_a + 63, of_b);
  ASSERT_TRUE(p.pool.give(of_b, 64));
  bool zero;
  EXPECT_FALSE(p.pool.extend(of_a, 63, 1, zero));
}

TEST(sites, threads_that_open_at_once_agree) {
  for (int round = 0; round != 10; ++round) {
    fresh_arena f(60 * chunk_size, 4);
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t)
      threads.emplace_back([&, t] {
        while (f.it.open_more(1, t % 2 == 0 ? a : b)) std::this_thread::yield();
      });
    for (auto& t : threads) t.join();
    ASSERT_EQ(60u, f.it.main_open());
    for (chunk_number c = 0; c != 64; ++c) {
      const site s = f.it.chunk(c).site.load(order::relaxed);
      ASSERT_TRUE(s == a || s == b) << c;
    }
    for (chunk_number c = 60; c != 64; ++c)
      os::unmap(f.it.chunk(c).mapping.get(), (grains_per_chunk + 1) * grain_size);
  }
}

// Threads of three sites take, give and purge at random in an arena with room for all: nobody ever gets another's.
TEST(sites, threads_find_their_own_among_everybodys) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  pooled p(1024);
  atomic<unsigned> astray{0}, none{0}, lies{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t != 6; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(seed + t);
      const site mine = site_of_node(t % 3);
      trail lately;
      chunk_number from = 0;
      std::vector<std::pair<grain, unsigned>> held;
      for (int step = 0; step != 3'000; ++step) {
        const unsigned dice = random() % 100;
        if (dice < 48) {
          const unsigned n = dice < 40 ? 1 + unsigned(random() % 20) : 1 + unsigned(random() % 150);
          const run r = p.pool.take(n, lately, mine);
          if (r.first == 0) {
            none.fetch_add(1, order::relaxed);
            continue;
          }
          if (!p.all_of(r.first, n, mine)) astray.fetch_add(1, order::relaxed);
          if (r.zero && *p.it.address_of(r.first) != std::byte{0}) lies.fetch_add(1, order::relaxed);
          *p.it.address_of(r.first) = std::byte{1};
          held.push_back({r.first, n});
        } else if (dice < 98 && !held.empty()) {
          std::swap(held[random() % held.size()], held.back());
          if (!p.pool.give(held.back().first, held.back().second)) lies.fetch_add(1, order::relaxed);
          held.pop_back();
        } else if (dice >= 98) {
          p.pool.purge({.what = grain_pool::which::all, .budget = MiB}, from);
        }
      }
      for (const auto& r : held) static_cast<void>(p.pool.give(r.first, r.second));
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(0u, astray.load(order::relaxed));
  EXPECT_EQ(0u, none.load(order::relaxed));
  EXPECT_EQ(0u, lies.load(order::relaxed));
  EXPECT_EQ(0u, p.pool.count().taken);
}

}  // namespace
}  // namespace polder::mem
