#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/mem/poisson.hpp>
#include <polder/os/answered_test.hpp>
#include <polder/os/forked_test.hpp>
#include <polder/os/heavy_fence.hpp>
#include <polder/os/lacks_test.hpp>

namespace polder::heap {
namespace {

struct sampling : ::testing::Test {
  static constexpr std::uint64_t every_byte = 1;  // or nearly: of 64 bytes all but one in 10^27

  using counts = decltype(mem::heap_profile::sites)::counts;
  counts all() const {
    counts sum{};
    const mem::heap_profile* const p = s.heap.profile();
    if (p)
      p->sites.for_each([&](std::uint32_t n) {
        const counts c = p->sites.of(n);
        sum.live_blocks += c.live_blocks, sum.live_bytes += c.live_bytes;
        sum.drawn_blocks += c.drawn_blocks, sum.drawn_bytes += c.drawn_bytes;
      });
    return sum;
  }
  std::uint64_t live() const { return all().live_blocks; }
  std::size_t noted() const {
    std::size_t n = 0;
    s.heap.profile()->blocks.for_each([&](const mem::sampled_block&) { ++n; });
    return n;
  }
  void start(std::uint64_t mean = every_byte) { ASSERT_EQ(profiling::done, s.heap.start_profile(mean)); }
  bool is_marked(const void* p) { return mem::word::is_sampled(s.word_of(p)); }
  bool serves_directly() {
    for (const mem::span* d : s.own().direct)
      if (d->cls != 0) return true;
    return false;
  }

  served s;
};

TEST_F(sampling, every_way_to_a_block_is_counted_and_every_free_is_noticed) {
  start();
  std::vector<void*> held;
  std::uint64_t bytes = 0;
  for (std::size_t n = 64; n < 80 * MiB; n = n * 2 + 1) {
    held.push_back(s.allocate(n));
    held.push_back(s.heap.allocate_zeroed(n));
    held.push_back(s.heap.allocate_aligned(64, n));
    bytes += 3 * n;
  }
  void* batch[10];
  ASSERT_EQ(10u, s.heap.allocate_batch(100, 10, batch));
  bytes += 1000;
  held.insert(held.end(), batch, batch + 10);
  EXPECT_EQ(held.size(), live());
  EXPECT_EQ(bytes, all().live_bytes);
  EXPECT_EQ(held.size(), noted());
  for (void* p : held) s.free(p);
  EXPECT_EQ(0u, live());
  EXPECT_EQ(0u, all().live_bytes);
  EXPECT_EQ(0u, noted());
  EXPECT_EQ(bytes, all().drawn_bytes);
}

TEST_F(sampling, frees_of_others_in_batches_and_with_sizes_are_noticed) {
  start();
  std::vector<void*> held;
  for (int i = 0; i != 300; ++i) held.push_back(s.allocate(48));
  s.in_a_thread([&] {
    for (int i = 0; i != 100; ++i) s.free(held[std::size_t(i)]);
    s.heap.deallocate_batch(held.data() + 100, 100);
    for (std::size_t i = 200; i != 300; ++i) s.heap.deallocate_sized(held[i], 48);
  });
  EXPECT_EQ(0u, live());
}

TEST_F(sampling, a_block_that_grows_takes_its_sample_along) {
  start();
  void* p = s.allocate(64);
  for (std::size_t n = 100; n < 200 * MiB; n *= 2) {
    p = s.heap.reallocate(p, n);
    ASSERT_EQ(1u, live()) << n;
    ASSERT_EQ(1u, noted()) << n;
    s.heap.profile()->blocks.for_each([&](const mem::sampled_block& b) { ASSERT_EQ(p, b.block); });
  }
  p = s.heap.reallocate(p, 100);
  s.free(p);
  EXPECT_EQ(0u, live());
}

TEST_F(sampling, a_block_that_grows_or_shrinks_where_it_is_is_told_with_what_it_has) {
  start();
  void* p = s.allocate(2 * MiB);
  for (const std::size_t n : {3 * MiB, 100 * MiB, 100 * MiB + 1, 5 * MiB, 2 * MiB + 1, 2 * MiB}) {
    p = s.heap.reallocate(p, n);
    EXPECT_EQ(1u, live());
    EXPECT_EQ(n, all().live_bytes);
    EXPECT_LE(n, all().drawn_bytes);
  }
  s.free(p);
  EXPECT_EQ(0u, all().live_bytes);
}

TEST_F(sampling, the_room_that_a_block_gets_to_grow_is_not_what_was_asked_for) {
  start();
  for (const std::size_t from : {100, 500, 1000, 5000, 30'000}) {
    void* const before = s.allocate(from);
    const std::size_t to = from == 30'000 ? 100'000 : s.heap.usable_size(before) + 16;
    void* const p = s.heap.reallocate(before, to);
    EXPECT_GT(s.heap.usable_size(p), to);
    EXPECT_EQ(to, all().live_bytes);
    s.free(p);
  }
}

TEST_F(sampling, the_room_that_a_block_gets_to_grow_brings_no_sample_nearer) {
  start(std::uint64_t{1} << 40);
  s.allocate(640);  // what is to come has room there
  void* const p = s.allocate(500);
  const std::int64_t before = s.own().until_sample;
  void* const q = s.heap.reallocate(p, 550);
  EXPECT_GE(s.heap.usable_size(q), 640u);
  EXPECT_EQ(before - 550, s.own().until_sample);
}

TEST_F(sampling, what_a_block_grows_by_may_make_it_a_sample) {
  void* p = s.heap.reallocate(s.allocate(64), 2 * MiB);
  start();
  p = s.heap.reallocate(p, 50 * MiB);
  EXPECT_EQ(1u, noted());
  EXPECT_EQ(50 * MiB, all().live_bytes);
  s.free(p);
  EXPECT_EQ(0u, live());
}

TEST_F(sampling, the_estimate_is_near_also_of_blocks_that_grew_or_shrank) {
  constexpr std::uint64_t mean = 4 * MiB;
  constexpr unsigned blocks = 400;
  start(mean);
  const std::pair<std::size_t, std::size_t> changes[] = {{2 * MiB, 8 * MiB}, {8 * MiB, 2 * MiB}};
  for (const auto& [from, to] : changes) {
    void* held[blocks];
    for (void*& p : held) p = s.heap.reallocate(s.heap.reallocate(s.allocate(64), from), to);
    EXPECT_NEAR(1, double(live()) / mem::chance_of_sample(to, mean) / blocks, 0.35) << from << " to " << to;
    for (void* p : held) s.free(p);
  }
}

TEST_F(sampling, the_estimate_is_near_what_was_allocated) {
  constexpr std::uint64_t mean = 8 * KiB;
  start(mean);
  constexpr std::size_t sizes[] = {16, 100, 1000, 5000, 50'000};
  for (std::size_t n : sizes) {
    const counts before = all();
    const std::size_t blocks = 64 * MiB / n;
    for (std::size_t i = 0; i != blocks; ++i) s.free(s.allocate(n));
    const counts after = all();
    const double estimated = double(after.drawn_blocks - before.drawn_blocks) / mem::chance_of_sample(n, mean);
    EXPECT_NEAR(1, estimated / double(blocks), 0.08)
        << n;  // of small ones 8,000 samples: seven standard deviations
  }
}

TEST_F(sampling, the_estimate_is_near_also_of_blocks_and_means_of_few_bytes) {
  std::uint64_t drawn = 0;
  start();
  for (std::size_t n : {1, 2, 3}) {
    constexpr std::size_t blocks = 40'000;
    for (std::size_t i = 0; i != blocks; ++i) s.free(s.allocate(n));
    const std::uint64_t now = all().drawn_blocks;
    const double estimated = double(now - drawn) / mem::chance_of_sample(n, every_byte);
    EXPECT_NEAR(1, estimated / blocks, 0.03) << n;  // of 1 byte eight standard deviations
    drawn = now;
  }
}

TEST_F(sampling, a_span_is_asked_only_while_it_has_a_sample) {
  void* const before = s.allocate(64);
  start();
  void* const sampled = s.allocate(64);
  ASSERT_EQ(s.grain_of(before), s.grain_of(sampled));
  EXPECT_TRUE(is_marked(sampled));
  EXPECT_EQ(1u, s.span_of(sampled).sampled.load(order::relaxed));
  s.free(sampled);
  EXPECT_FALSE(is_marked(before));
  s.free(before);
  EXPECT_EQ(0u, live());
}

TEST_F(sampling, the_mark_goes_when_the_owner_finds_that_another_freed_the_last_sample) {
  void* const mine = s.allocate(64);
  start();
  void* const sampled = s.allocate(64);
  s.in_a_thread([&] { s.free(sampled); });
  EXPECT_EQ(0u, live());
  EXPECT_TRUE(is_marked(mine));
  s.free(mine);
  EXPECT_FALSE(is_marked(mine));
}

TEST_F(sampling, a_span_that_is_adopted_keeps_its_mark) {
  start();
  std::vector<void*> held;
  s.in_a_thread([&] {
    for (int i = 0; i != 100; ++i) held.push_back(s.allocate(512));
  });
  s.heap.stop_profile();
  for (int i = 0; i != 50; ++i) s.free(held[std::size_t(i)]);
  while (s.owner_of(held[99]) != s.own().number) held.push_back(s.allocate(512));
  EXPECT_TRUE(is_marked(held[99]));
  for (std::size_t i = 50; i != held.size(); ++i) s.free(held[i]);
  EXPECT_EQ(0u, live());
}

TEST_F(sampling, off_is_as_if_it_had_never_been_on) {
  s.free(s.allocate(64));
  ASSERT_TRUE(serves_directly());
  start();
  EXPECT_FALSE(serves_directly());
  void* const drawn = s.allocate(64);
  s.heap.stop_profile();
  EXPECT_TRUE(serves_directly());
  void* const not_drawn = s.allocate(64);
  EXPECT_EQ(1u, live());
  s.free(drawn);
  EXPECT_EQ(0u, live());
  s.free(not_drawn);
  start();
  s.free(s.allocate(64));
  EXPECT_EQ(2u, all().drawn_blocks);
}

TEST_F(sampling, threads_that_are_at_work_already_hear_of_it) {
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier: they would hear in their next decay step";
  std::barrier turn(2);
  std::thread other = s.thread([&] {
    s.free(s.allocate(64));  // a hot span, from which it goes on without any slow path
    turn.arrive_and_wait();
    turn.arrive_and_wait();
    s.free(s.allocate(64));
    turn.arrive_and_wait();
    turn.arrive_and_wait();
    s.free(s.allocate(64));
  });
  turn.arrive_and_wait();
  start();
  turn.arrive_and_wait();
  turn.arrive_and_wait();
  EXPECT_EQ(1u, all().drawn_blocks);
  s.heap.stop_profile();
  turn.arrive_and_wait();
  other.join();
  EXPECT_EQ(1u, all().drawn_blocks);
}

TEST_F(sampling, one_that_is_inside_hears_with_its_next_operation) {
  if (!os::register_heavy_fence()) GTEST_SKIP() << "no membarrier: it would hear in its next decay step";
  std::barrier turn(2);
  lab* others = nullptr;
  std::thread other = s.thread([&] {
    s.free(s.allocate(64));
    others = &s.own();
    ASSERT_TRUE(others->door.announce());
    turn.arrive_and_wait();
    turn.arrive_and_wait();
    others->door.exit();
    s.free(s.allocate(64));
  });
  turn.arrive_and_wait();
  start();
  EXPECT_FALSE(others->watched);
  turn.arrive_and_wait();
  other.join();
  EXPECT_TRUE(others->watched);
  EXPECT_EQ(1u, all().drawn_blocks);
}

// Where nobody can claim.
TEST_F(sampling, without_membarrier_all_hear_in_a_later_step) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([] {
              if (!os::answer(SYS_membarrier, ENOSYS)) return 1;
              options o = served::usual;
              o.decay_ms = 2;
              served busy(o);
              busy.free(busy.allocate(64));
              lab* const here = &busy.own();
              std::thread other = busy.thread([&] {
                if (busy.heap.start_profile(every_byte) != profiling::done) here->watched = true;
              });
              other.join();
              if (here->watched) return 2;
              while (!here->watched) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                std::vector<void*> some;
                for (int i = 0; i != 100; ++i) some.push_back(busy.allocate(1000));
                for (void* p : some) busy.free(p);
              }
              return 0;
            }));
}

TEST_F(sampling, frees_without_a_lab_and_past_the_threads_end_are_noticed) {
  start();
  void* const small = s.allocate(64);
  void* const large = s.allocate(MiB);
  void* const huge = s.allocate(40 * MiB);
  s.in_a_thread([&] {
    test_host::gone = true;
    void* const own = s.allocate(100);
    EXPECT_EQ(4u, live());
    for (void* p : {small, large, huge, own}) s.free(p);
  });
  EXPECT_EQ(0u, live());
}

TEST_F(sampling, without_memory_it_does_not_begin) {
  if (const char* why = os::lacks_filters()) GTEST_SKIP() << why;
  EXPECT_EQ(os::fine, os::forked([this] {
              void* const p = s.allocate(64);
              if (!os::answer(SYS_mmap, ENOMEM)) return 1;
              if (s.heap.start_profile(1) != profiling::no_memory) return 2;
              s.free(p);
              return s.heap.profile() == nullptr && s.allocate(64) != nullptr ? 0 : 3;
            }));
}

TEST_F(sampling, samples_for_which_there_is_no_room_are_counted) {
  start();
  const auto lost = [this] { return s.heap.profile()->lost.load(order::relaxed); };
  void* mapped = s.heap.reallocate(s.allocate(64), 2 * MiB);
  std::vector<void*> held;
  while (lost() == 0) held.push_back(s.allocate(64));
  EXPECT_GT(held.size(), 40'000u);
  while (lost() < 20'000) held.push_back(s.allocate(64));  // there is hardly any left
  EXPECT_EQ(held.size() + 1 - lost(), live());
  // One that moves while there is no room for it where it comes to lie.
  std::uint64_t before = live();
  for (std::size_t n = 3 * MiB; live() == before && n < GiB; n += n / 2) mapped = s.heap.reallocate(mapped, n);
  EXPECT_EQ(before - 1, live());
  s.free(mapped);
  for (void* p : held) s.free(p);
  EXPECT_EQ(0u, live());
  EXPECT_EQ(0u, all().live_bytes);
}

TEST_F(sampling, one_mean_for_all_of_its_samples) {
  start(1000);
  EXPECT_EQ(profiling::other_mean, s.heap.start_profile(2000));
  EXPECT_EQ(profiling::done, s.heap.start_profile(1000));
}

TEST_F(sampling, a_survivor_answers_for_the_span_that_it_keeps) {
  start();
  std::vector<void*> held;
  for (int i = 0; i != 1000; ++i) held.push_back(s.allocate(64));
  for (void* p : held)
    if (p != held[500]) s.free(p);
  EXPECT_EQ(64 * KiB - 64, s.heap.waste_beside({held[500], 64, 0}));
  s.free(held[500]);
  void* const run = s.allocate(100 * KiB);
  EXPECT_EQ(28 * KiB, s.heap.waste_beside({run, 100 * KiB, 0}));
  s.free(run);
  EXPECT_EQ(0u, s.heap.waste_beside({run, 100 * KiB, 0}));
}

TEST(sampling_hardened, goes_together_with_mistakes_being_looked_for) {
  options o = served::usual;
  o.hardened = true;
  o.guard_rate = 5;
  served s(o);
  ASSERT_EQ(profiling::done, s.heap.start_profile(1));
  std::vector<void*> held;
  for (int i = 0; i != 200; ++i) held.push_back(s.allocate(64 + std::size_t(i) * 10));
  for (void* p : held) s.free(p);
  const mem::heap_profile& profile = *s.heap.profile();
  std::uint64_t drawn = 0, live = 0;
  profile.sites.for_each([&](std::uint32_t n) {
    drawn += profile.sites.of(n).drawn_blocks;
    live += profile.sites.of(n).live_blocks;
  });
  EXPECT_EQ(200u, drawn);
  EXPECT_EQ(0u, live);
  s.heap.stop_profile();
  for (const mem::span* d : s.own().direct) EXPECT_EQ(0u, d->cls);
}

}  // namespace
}  // namespace polder::heap
