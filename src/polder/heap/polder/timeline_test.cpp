// What the flagship's slow paths leave in a recording.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/recorded_test.hpp>

namespace polder::heap {
namespace {

using os::timeline::kind;

// What happens while f runs.
template <class F>
os::recorded recorded_while(F f) {
  const std::string file = testing::TempDir() + "slow-paths-" + std::to_string(::getpid());
  EXPECT_TRUE(os::timeline::start({.file = file}));
  f();
  EXPECT_TRUE(os::timeline::stop());
  os::recorded r(file);
  EXPECT_TRUE(r.whole);
  ::unlink(file.c_str());
  return r;
}

const os::timeline::event* first(const os::recorded& r, kind k) {
  for (const auto& e : r.events)
    if (e.kind == k) return &e;
  return nullptr;
}

TEST(slow_paths, a_block_at_hand_is_not_recorded) {
  served h;
  h.free(h.allocate(16));
  const os::recorded r = recorded_while([&] { h.free(h.allocate(16)); });
  EXPECT_EQ(0u, r.events.size());
}

TEST(slow_paths, a_refill_holds_the_span_it_fetches) {
  served h;
  h.free(h.allocate(16));
  const os::recorded r = recorded_while([&] { h.allocate(1024); });
  ASSERT_EQ(1u, r.kept(kind::refill));
  ASSERT_EQ(1u, r.kept(kind::span_get));
  const auto& refill = *first(r, kind::refill);
  const auto& get = *first(r, kind::span_get);
  EXPECT_EQ(1024u, refill.count);
  EXPECT_EQ(mem::size_class::stepped::of(1024), refill.label);
  EXPECT_EQ(mem::grain_size, get.count);
  EXPECT_LE(refill.start, get.start);
  EXPECT_LE(get.end, refill.end);
}

TEST(slow_paths, blocks_of_another_thread_are_posted_and_drained) {
  served h;
  std::vector<void*> blocks;
  for (int i = 0; i != 200; ++i) blocks.push_back(h.allocate(512));
  const os::recorded r = recorded_while([&] {
    h.in_a_thread([&] {
      for (void* p : blocks) h.free(p);
    });
    for (int i = 0; i != 200; ++i) h.allocate(512);
  });
  ASSERT_NE(0u, r.kept(kind::post));
  ASSERT_NE(0u, r.kept(kind::drain));
  std::uint64_t posted = 0, drained = 0;
  std::set<std::uint16_t> posters, drainers;
  for (const auto& e : r.events) {
    if (e.kind == kind::post) posted += e.count, posters.insert(e.thread);
    if (e.kind == kind::drain && e.count != 0) drained += e.count, drainers.insert(e.thread);
  }
  EXPECT_EQ(200u * 512, posted);
  EXPECT_EQ(posted, drained);
  EXPECT_EQ(1u, posters.size());
  EXPECT_EQ(1u, drainers.size());
  EXPECT_NE(posters, drainers);
}

TEST(slow_paths, large_blocks_and_what_the_system_is_asked_for) {
  served h;
  h.free(h.allocate(16));
  const os::recorded r = recorded_while([&] {
    h.free(h.allocate(MiB));
    h.free(h.allocate(40 * MiB));
    h.heap.trim(0);
  });
  EXPECT_NE(0u, r.kept(kind::span_get));
  ASSERT_NE(0u, r.kept(kind::span_put));
  EXPECT_NE(0u, r.kept(kind::map));
  EXPECT_NE(0u, r.kept(kind::unmap));
  EXPECT_NE(0u, r.kept(kind::advise));
  EXPECT_EQ(MiB, first(r, kind::span_put)->count);
}

}  // namespace
}  // namespace polder::heap
