// What moves between the levels, and how often a lock is taken, on a machine of four sockets of eight processors: the
// thesis's diagnosis of super0 and its redesign, in numbers that do not depend on the machine that runs the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include <polder/heap/supermalloc/imagined_test.hpp>

namespace polder::heap::supermalloc {
namespace {

using classes = size_classes;
const unsigned c64 = classes::of(64);
constexpr unsigned per_mib = MiB / 64;
constexpr unsigned per_8k = 8 * KiB / 64;

template <class Heap>
std::vector<void*> allocated(Heap& h, unsigned cpu, std::size_t many, unsigned c = c64) {
  std::vector<void*> all(many);
  for (void*& p : all) {
    p = h.allocate(cpu, c);
    EXPECT_NE(nullptr, p);
  }
  return all;
}
template <class Heap>
void freed(Heap& h, unsigned cpu, const std::vector<void*>& all) {
  for (void* p : all) h.free(cpu, p);
}

level_traffic operator-(level_traffic a, const level_traffic& b) {
  const auto less = [](traffic& from, const traffic& by) {
    from.locks -= by.locks;
    from.in -= by.in;
    from.out -= by.out;
    from.walked -= by.walked;
  };
  less(a.cpu, b.cpu);
  less(a.socket, b.socket);
  less(a.global, b.global);
  a.bumped_under_lock -= b.bumped_under_lock;
  a.freed_to_pages -= b.freed_to_pages;
  return a;
}

template <class Heap, class F>
level_traffic during(Heap& h, F f) {
  const level_traffic before = h.seen();
  f();
  return h.seen() - before;
}

// ---- T18: sizes of the caches -----------------------------------------------------------------------------------------

TEST(supermalloc_levels, caches_are_as_large_as_the_thesis_says) {
  by_hand<super0_there> h;
  EXPECT_EQ(per_8k, h.it().thread_bound(c64));
  EXPECT_EQ(per_mib, h.it().bound(c64));
  EXPECT_EQ(h.cpus, h.it().vault_of(c64).shelf.capacity) << "a list a processor";
  const unsigned large = classes::of(600 * KiB);
  EXPECT_EQ(1u, h.it().thread_bound(large)) << "at least one block";

  options o = hosted<super0_there>::usual();
  o.tuned[unsigned(asked::global_lists)] = 8;
  by_hand<super0_there> code(1, o);
  EXPECT_EQ(8u, code.it().vault_of(c64).shelf.capacity) << "as the published code has it";
  by_hand<super3_there> equal;
  EXPECT_EQ(per_mib, equal.it().thread_bound(c64));
}

// All levels fill up, from below; what then comes goes to its page, one by one, and no list moves.
TEST(supermalloc_levels, super0_frees_to_the_page_when_all_caches_are_full) {
  options o = hosted<super0_there>::usual();
  o.tuned[unsigned(asked::global_lists)] = 3;
  by_hand<super0_there> h(1, o);
  constexpr unsigned room = 2 * per_8k + 2 * per_mib + 3 * per_mib;
  const auto all = allocated(h, 5, room + 1000);
  const level_traffic t = during(h, [&] { freed(h, 5, all); });
  EXPECT_EQ(2 * per_8k, h.of(5).bins[c64].here.count + h.of(5).bins[c64].spare.count);
  EXPECT_EQ(3u, h.it().vault_of(c64).shelf.count);
  EXPECT_EQ(3u, t.global.in);
  EXPECT_EQ(0u, t.global.out);
  EXPECT_EQ(1000u, t.freed_to_pages);
  h.it().validate();
}

TEST(supermalloc_levels, super2_frees_half_of_the_global_cache_when_it_is_full) {
  options o = hosted<super2_there>::usual();
  o.tuned[unsigned(asked::global_lists)] = 4;
  by_hand<super2_there> h(1, o);
  const auto all = allocated(h, 5, 2 * per_8k + 2 * per_mib + 4 * per_mib + per_8k);
  const level_traffic t = during(h, [&] { freed(h, 5, all); });
  EXPECT_EQ(2u * per_mib, t.freed_to_pages) << "two of four lists";
  h.it().validate();
}

// ---- T19: the causes --------------------------------------------------------------------------------------------------

// "acquiring a global lock to allocate only one object"
TEST(supermalloc_levels, super0_takes_the_class_lock_for_every_block_while_it_grows) {
  by_hand<super0_there> h;
  const level_traffic t = during(h, [&] { freed(h, 3, allocated(h, 3, 10'000)); });
  EXPECT_GE(t.global.locks, 10'000u);
  EXPECT_EQ(10'000u, t.bumped_under_lock);
  EXPECT_EQ(0u, t.global.out);
}

TEST(supermalloc_levels, super1_takes_it_for_half_a_cache_at_once) {
  by_hand<super1_there> h;
  std::vector<void*> all;
  const level_traffic t = during(h, [&] { all = allocated(h, 3, 10'000); });
  EXPECT_EQ(1u, t.global.locks);
  EXPECT_EQ(std::uint64_t{h.cpus / 2} * per_mib, t.bumped_under_lock);
  EXPECT_EQ(1u, t.global.out);
  freed(h, 3, all);
}

// "the thread cannot simply move an entire 1MB linked list. Instead, it traverses the linked list"
TEST(supermalloc_levels, unequal_lists_are_walked_and_equal_ones_are_not) {
  {
    by_hand<super1_there> h;
    const level_traffic t = during(h, [&] { freed(h, 3, allocated(h, 3, 10'000)); });
    EXPECT_EQ((10'000 / per_8k + 1) * per_8k, t.cpu.walked);
  }
  by_hand<super4_there> h;
  const level_traffic t = during(h, [&] { freed(h, 3, allocated(h, 3, 4 * per_mib)); });
  EXPECT_EQ(0u, t.cpu.walked + t.socket.walked + t.global.walked);
  EXPECT_LE(t.cpu.locks, 8u);
}

// ---- T20: the early phase ---------------------------------------------------------------------------------------------

TEST(supermalloc_levels, bulk_bumping_holds_more_memory_than_was_asked_for) {
  const auto held_after_a_block_of_each_class = [](auto heap) {
    for (unsigned c = 1; c <= classes::count; ++c) heap->free(0, heap->allocate(0, c));
    std::size_t bytes = 0;
    for (unsigned c = 1; c <= classes::count; ++c) bytes += heap->it().vault_of(c).pages.held;
    return bytes;
  };
  options o = hosted<super0_there>::usual();
  o.tuned[unsigned(asked::global_lists)] = 2;  // half of it is one list a class
  const std::size_t super0 = held_after_a_block_of_each_class(std::make_unique<by_hand<super0_there>>(1u, o));
  const std::size_t super1 = held_after_a_block_of_each_class(std::make_unique<by_hand<super1_there>>(1u, o));
  const std::size_t prefill =
      held_after_a_block_of_each_class(std::make_unique<by_hand<super_prefill_there>>(1u, o));
  EXPECT_GT(super1, classes::count * MiB / 2);
  EXPECT_LT(super0, 8 * MiB);
  EXPECT_EQ(super0, prefill) << "T24: the first time it bumps one";
}

// ---- T24: 1, 2, 4, 8, … -----------------------------------------------------------------------------------------------

TEST(supermalloc_levels, prefilling_doubles_up_to_half_of_the_cache) {
  options o = hosted<super_prefill_there>::usual();
  o.tuned[unsigned(asked::global_lists)] = 4;
  by_hand<super_prefill_there> h(1, o);
  std::vector<void*> all;
  std::uint64_t bumped = 0, expected = 1;
  while (bumped < 8 * per_mib) {
    all.push_back(h.allocate(0, c64));
    const std::uint64_t now = h.seen().bumped_under_lock - 1;  // less the block with which the heap began
    if (now == bumped) continue;
    ASSERT_EQ(expected, now - bumped);
    bumped = now;
    expected = std::min<std::uint64_t>(expected * 2, 2 * per_mib);
  }
  EXPECT_LT(h.seen().global.locks, 40u);
  freed(h, 0, all);
}

// ---- T21: a cache for each socket -------------------------------------------------------------------------------------

// Every processor takes eight lists, each processor in turn one.
template <class Sheet>
level_traffic all_processors_grow() {
  by_hand<Sheet> h;
  std::vector<std::vector<void*>> all;
  const level_traffic t = during(h, [&] {
    for (int round = 0; round < 8; ++round)
      for (unsigned cpu = 0; cpu < h.cpus; ++cpu) all.push_back(allocated(h, cpu, per_mib));
  });
  for (auto& some : all) freed(h, 0, some);
  return t;
}

TEST(supermalloc_levels, growing_the_global_level_sees_the_traffic_of_sockets) {
  constexpr unsigned lists = 8 * 4 * four_sockets::per_socket;
  constexpr unsigned at_once = four_sockets::per_socket / 2;
  const level_traffic one_level = all_processors_grow<redesign_without_sockets>();
  EXPECT_EQ(lists, one_level.global.locks) << "each list that a processor gets";
  EXPECT_EQ(lists, one_level.global.out);
  const level_traffic two = all_processors_grow<super_socket_there>();
  EXPECT_EQ(lists, two.socket.locks) << "each list that a processor gets is its socket's affair";
  EXPECT_EQ(lists / at_once, two.global.locks) << "half of a socket's cache at once";
  EXPECT_EQ(0u, two.cpu.walked + two.socket.walked + two.global.walked);
}

TEST(supermalloc_levels, super0_growing_the_global_level_sees_every_block_of_every_processor) {
  by_hand<super0_there> h;
  std::vector<void*> all;
  const level_traffic t = during(h, [&] {
    for (unsigned cpu = 0; cpu < h.cpus; ++cpu)
      for (void* p : allocated(h, cpu, 500)) all.push_back(p);
  });
  EXPECT_EQ(500u * h.cpus, t.global.locks);
  freed(h, 0, all);
}

// One processor of each socket allocates, its neighbour frees: what goes up in the one comes down in the other.
template <class Sheet>
level_traffic neighbours_exchange() {
  by_hand<Sheet> h;
  const auto round = [&] {
    for (unsigned socket = 0; socket < 4; ++socket) {
      const unsigned cpu = socket * four_sockets::per_socket;
      freed(h, cpu + 1, allocated(h, cpu, 3 * per_mib));
    }
  };
  for (int warm = 0; warm < 12; ++warm) round();
  return during(h, [&] {
    for (int i = 0; i < 20; ++i) round();
  });
}

TEST(supermalloc_levels, what_neighbours_exchange_stays_in_their_socket) {
  const level_traffic super0 = neighbours_exchange<super0_there>();
  EXPECT_GE(super0.global.locks, 2u * 20 * 4 * 3) << "each list goes up through the global cache and down again";
  const level_traffic one_level = neighbours_exchange<redesign_without_sockets>();
  EXPECT_GE(one_level.global.locks, 2u * 20 * 4 * 3 - 4);
  const level_traffic sockets = neighbours_exchange<super_socket_there>();
  EXPECT_EQ(0u, sockets.global.locks);
  EXPECT_EQ(0u, sockets.bumped_under_lock + sockets.freed_to_pages);
  EXPECT_GE(sockets.socket.locks, 2u * 20 * 4 * 3 - 4);
}

// One socket allocates what another frees: that must go through the global level, half of a socket's cache at once.
TEST(supermalloc_levels, what_sockets_exchange_goes_through_the_global_level_in_halves) {
  by_hand<super_socket_there> h;
  const unsigned producer = 0, consumer = four_sockets::per_socket;
  const auto round = [&] { freed(h, consumer, allocated(h, producer, 8 * per_mib)); };
  for (int warm = 0; warm < 12; ++warm) round();
  const level_traffic t = during(h, [&] {
    for (int i = 0; i < 20; ++i) round();
  });
  EXPECT_EQ(0u, t.bumped_under_lock);
  constexpr unsigned halves = 2 * 20 * 8 / (four_sockets::per_socket / 2);
  EXPECT_GE(t.global.locks, halves - 2);
  EXPECT_LE(t.global.locks, halves + 2);
  h.it().validate();
}

// ---- NUMA: homes ------------------------------------------------------------------------------------------------------

TEST(supermalloc_homes, blocks_lie_at_the_home_of_the_socket_that_allocates) {
  by_hand<super_socket_there> h(4);
  ASSERT_EQ(4u, h.it().homes());
  std::vector<void*> all[4];
  for (unsigned socket = 0; socket < 4; ++socket) {
    all[socket] = allocated(h, socket * four_sockets::per_socket + 3, 2 * per_mib);
    for (void* p : all[socket]) ASSERT_EQ(socket, h.it().find(p).owner);
  }
  for (unsigned socket = 0; socket < 4; ++socket) freed(h, socket * four_sockets::per_socket + 3, all[socket]);
  h.it().validate();
}

TEST(supermalloc_homes, blocks_freed_elsewhere_go_home) {
  by_hand<super_socket_there> h(4);
  const unsigned there = four_sockets::per_socket, here = 0;
  const auto blocks = allocated(h, there, 20'000);
  const std::set<void*> known(blocks.begin(), blocks.end());
  freed(h, here, allocated(h, here, 100));
  freed(h, here, blocks);
  const auto mine = allocated(h, here, 30'000);
  for (void* p : mine) ASSERT_EQ(0u, known.count(p)) << "none of them is used here";
  std::size_t again = 0;
  const auto theirs = allocated(h, there, 80'000);
  for (void* p : theirs) again += known.count(p);
  EXPECT_GE(again, known.size() - per_8k) << "but at home, all that this thread does not hold back";
  freed(h, here, mine);
  freed(h, there, theirs);
  h.it().validate();
}

// Before it has allocated anything it does not know where it is.
TEST(supermalloc_homes, a_thread_whose_first_call_is_a_free_looks_where_it_is) {
  by_hand<super_socket_there> h(4);
  const unsigned here = four_sockets::per_socket;
  void* const stranger = h.allocate(1, c64);  // of home 0
  h.free(here, stranger);
  EXPECT_EQ(0u, h.of(here).bins[c64].here.count);
  void* const own = h.allocate(here + 1, c64);
  h.free(here + 2, own);
  EXPECT_EQ(1u, h.of(here + 2).bins[c64].here.count);
}

TEST(supermalloc_homes, a_thread_that_moves_leaves_its_lists_at_home) {
  by_hand<super_socket_there> h(4);
  auto& k = h.of(0);
  const auto old = allocated(h, 0, 1000);
  four_sockets::cpu = 2 * four_sockets::per_socket;
  for (std::size_t i = 0; i < 2 * per_mib; ++i) {  // beyond what it still has
    void* const p = h.it().allocate(k, c64);
    ASSERT_NE(nullptr, p);
    if (k.lives_at == 3) {
      EXPECT_EQ(2u, h.it().find(p).owner);
      break;
    }
  }
  EXPECT_EQ(3u, k.lives_at);
  freed(h, 1, old);
  h.it().validate();
}

}  // namespace
}  // namespace polder::heap::supermalloc
