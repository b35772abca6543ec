#include <polder/mem/radix_map.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

#include <polder/os/forked_test.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::mem {
namespace {

struct rooted {
  std::byte* const root = static_cast<std::byte*>(os::map(radix_map::root_bytes));
  radix_map map{root};
  ~rooted() { os::unmap(root, radix_map::root_bytes); }
};

constexpr std::uintptr_t space = std::uintptr_t{1} << 57;

TEST(radix_map, agrees_with_a_naive_map_over_the_whole_address_space) {
  rooted r;
  std::map<std::uintptr_t, std::uint32_t> naive;
  std::mt19937_64 random(57);
  for (int i = 0; i != 400; ++i) {
    // Any number of bits, so that low and high addresses, near and far ones occur.
    std::uintptr_t a = random() >> (7 + random() % 50);
    if (i % 3 == 1 && !naive.empty()) a = (naive.begin()->first << grain_shift) + (random() % 4 << grain_shift);
    const auto value = std::uint32_t(i % 7 == 0 ? 0 : random());
    ASSERT_TRUE(r.map.store(a, value));
    naive[a >> grain_shift] = value;
  }
  for (const auto& [granule, value] : naive) {
    const std::uintptr_t a = granule << grain_shift;
    EXPECT_EQ(value, r.map.find(a));
    EXPECT_EQ(value, r.map.find(a + grain_size - 1));
    for (const std::uintptr_t near : {granule - 1, granule + 1}) {
      const auto known = naive.find(near);
      if (near << grain_shift < space) {
        EXPECT_EQ(known == naive.end() ? 0 : known->second, r.map.find(near << grain_shift));
      }
    }
  }
  for (int i = 0; i != 10'000; ++i) {
    const std::uintptr_t a = random() >> (7 + random() % 50);
    const auto known = naive.find(a >> grain_shift);
    ASSERT_EQ(known == naive.end() ? 0 : known->second, r.map.find(a));
  }
}

TEST(radix_map, the_first_and_the_last_granule_and_none_beyond) {
  rooted r;
  EXPECT_EQ(0u, r.map.find(0));
  EXPECT_EQ(0u, r.map.find(space - 1));
  EXPECT_TRUE(r.map.store(0, 1));
  EXPECT_TRUE(r.map.store(space - 1, 2));
  EXPECT_EQ(1u, r.map.find(grain_size - 1));
  EXPECT_EQ(0u, r.map.find(grain_size));
  EXPECT_EQ(2u, r.map.find(space - grain_size));
  EXPECT_FALSE(r.map.store(space, 3));
  EXPECT_FALSE(r.map.store(~std::uintptr_t{0}, 3));
  EXPECT_EQ(0u, r.map.find(space));
  EXPECT_EQ(0u, r.map.find(~std::uintptr_t{0}));
  EXPECT_EQ(1u, r.map.find(0));
}

TEST(radix_map, threads_install_the_same_nodes_and_lose_nothing) {
  for (int round = 0; round != 20; ++round) {
    rooted r;
    atomic<int> ready;
    std::vector<std::thread> threads;
    atomic<std::uint32_t> wrong;
    for (std::uint32_t t = 0; t != 4; ++t)
      threads.emplace_back([&, t] {
        ready.fetch_add(1, order::relaxed);
        while (ready.load(order::relaxed) != 4) std::this_thread::yield();
        for (std::uint32_t i = 0; i != 64; ++i) {  // neighbours in one leaf, then leaves, then nodes further up
          const std::uintptr_t a =
              (std::uintptr_t{i} << (i % 2 ? grain_shift + 2 : 40)) + (std::uintptr_t{t} << grain_shift);
          if (!r.map.store(a, t * 1000 + i + 1) || r.map.find(a) != t * 1000 + i + 1)
            wrong.fetch_add(1, order::relaxed);
        }
      });
    for (auto& t : threads) t.join();
    ASSERT_EQ(0u, wrong.load(order::relaxed));
    for (std::uint32_t t = 0; t != 4; ++t)
      for (std::uint32_t i = 0; i != 64; ++i)
        ASSERT_EQ(t * 1000 + i + 1, r.map.find((std::uintptr_t{i} << (i % 2 ? grain_shift + 2 : 40)) +
                                               (std::uintptr_t{t} << grain_shift)));
  }
}

TEST(radix_map, without_memory_for_a_node_nothing_is_stored_and_nothing_is_lost) {
  if (const char* why = os::lacks_limits()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              rooted r;
              if (!r.map.store(GiB, 5)) return 1;
              const rlimit none{0, 0};
              if (::setrlimit(RLIMIT_AS, &none) != 0) return 2;
              if (r.map.store(space / 2, 6)) return 3;
              if (r.map.find(space / 2) != 0) return 4;
              if (!r.map.store(GiB + grain_size, 7)) return 5;  // a neighbour needs no node
              if (!r.map.store(GiB, 0)) return 6;               // taking back never fails
              return r.map.find(GiB) == 0 && r.map.find(GiB + grain_size) == 7 ? 0 : 7;
            }));
}

}  // namespace
}  // namespace polder::mem
