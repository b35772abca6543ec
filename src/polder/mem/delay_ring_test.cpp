#include <polder/mem/delay_ring.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <polder/base/align.hpp>

namespace polder::mem {
namespace {

void* numbered(std::size_t n) { return at_address(std::uintptr_t(n)); }

struct delays {
  std::unique_ptr<delay_ring> ring = std::make_unique<delay_ring>();
  std::vector<std::size_t> out;

  void put(std::size_t n, std::size_t bytes) {
    ring->put(numbered(n), bytes, [&](void* p) { return out.push_back(address(p)), bytes; });
  }
};

TEST(delay_ring, as_many_wait_as_it_has_room_for_and_the_first_leaves_first) {
  delays d;
  for (std::size_t n = 1; n <= delay_ring::room; ++n) d.put(n, 16);
  EXPECT_TRUE(d.out.empty());
  for (std::size_t n = 1; n <= 10; ++n) d.put(delay_ring::room + n, 16);
  EXPECT_EQ((std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), d.out);
}

TEST(delay_ring, bytes_are_bounded_too) {
  delays d;
  constexpr std::size_t fit = delay_ring::most_bytes / delay_ring::longest;
  for (std::size_t n = 1; n <= fit; ++n) d.put(n, delay_ring::longest);
  EXPECT_TRUE(d.out.empty());
  d.put(100, delay_ring::longest);
  d.put(101, delay_ring::longest);
  EXPECT_EQ((std::vector<std::size_t>{1, 2}), d.out);
}

TEST(delay_ring, the_oldest_is_found_after_the_ring_went_round) {
  delays d;
  for (std::size_t n = 1; n <= delay_ring::room + 100; ++n) d.put(n, delay_ring::most_bytes / delay_ring::room);
  d.out.clear();
  const std::size_t now = delay_ring::room + 101;
  d.ring->put(numbered(now), delay_ring::longest,
              [&](void* p) { return d.out.push_back(address(p)), delay_ring::most_bytes / delay_ring::room; });
  ASSERT_FALSE(d.out.empty());
  for (std::size_t i = 0; i < d.out.size(); ++i) ASSERT_EQ(101 + i, d.out[i]);
}

TEST(delay_ring, what_is_too_long_does_not_wait) {
  delays d;
  d.put(1, 16);
  d.put(2, delay_ring::longest + 1);
  EXPECT_EQ(std::vector<std::size_t>{2}, d.out);
}

TEST(delay_ring, threads_get_each_block_out_once) {
  constexpr std::size_t threads = 4, each = 20'000;
  const auto ring = std::make_unique<delay_ring>();
  std::vector<atomic<int>> seen(threads * each + 1);
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (std::size_t i = 1; i <= each; ++i) {
        // So long that the bytes count as often as the room.
        ring->put(numbered(t * each + i), delay_ring::most_bytes / 3000, [&](void* p) {
          seen[address(p)].fetch_add(1, order::relaxed);
          return delay_ring::most_bytes / 3000;
        });
      }
    });
  for (auto& t : all) t.join();
  std::size_t out = 0;
  for (const auto& s : seen) {
    ASSERT_LE(s.load(order::relaxed), 1);
    out += std::size_t(s.load(order::relaxed));
  }
  EXPECT_LE(out, threads * each - 2000);
  EXPECT_GE(out, threads * each - delay_ring::room);
}

}  // namespace
}  // namespace polder::mem
