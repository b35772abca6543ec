// numa=on over an imagined machine: which chunks threads of different nodes allocate from, and whose LABs they come by.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <vector>

#include <polder/heap/polder/served_test.hpp>
#include <polder/os/topology.hpp>

namespace polder::heap {
namespace {

using chunks = std::set<mem::chunk_number>;

constexpr options by_node{.arena_size = GiB, .decay_ms = 1'000'000, .numa = numa_policy::on};

// POLDER_TOPOLOGY while it lasts; it tells a thread its node as it tells the heap.
struct machine {
  explicit machine(const char* text) {
    ::setenv("POLDER_TOPOLOGY", text, 1);
    it.read_configured();
  }
  ~machine() { ::unsetenv("POLDER_TOPOLOGY"); }
  unsigned node() const { return it.node_of(it.current_cpu()); }

  os::topology it;
};

// Runs f in a thread of the heap that is of the node; threads come by nodes as chance has it.
template <class F>
void on_node(served& h, const machine& m, unsigned node, F f) {
  bool done = false;
  while (!done)
    h.in_a_thread([&] {
      if (m.node() != node) return;
      f();
      done = true;
    });
}

std::vector<void*> some_of_each(served& h, unsigned times = 1) {
  std::vector<void*> held;
  for (unsigned i = 0; i != times; ++i)
    for (const std::size_t n : {16, 100, 1000, 5000, 30'000, 100'000, 1'000'000}) held.push_back(h.allocate(n));
  return held;
}

chunks chunks_of(served& h, const std::vector<void*>& held) {
  chunks found;
  for (void* p : held) found.insert(mem::chunk_of(h.grain_of(p)));
  return found;
}

bool meet(const chunks& x, const chunks& y) {
  for (const mem::chunk_number c : x)
    if (y.contains(c)) return true;
  return false;
}

TEST(numa, threads_of_different_nodes_share_no_chunk) {
  const machine m("3x2");
  served h(by_node);
  EXPECT_EQ(numa_policy::on, h.heap.effective_options().numa);
  h.free(h.allocate(1));
  chunks seen[3];
  for (int round = 0; round != 4; ++round)
    for (unsigned node = 0; node != 3; ++node)
      on_node(h, m, node, [&] {
        const auto held = some_of_each(h, 5);
        seen[node].merge(chunks_of(h, held));
        for (std::size_t i = 0; i != held.size(); ++i)
          if (i % 3 != 0) h.free(held[i]);  // the next thread of the node finds dirty grains and spans to adopt
      });
  for (unsigned node = 0; node != 3; ++node) {
    EXPECT_FALSE(seen[node].empty());
    EXPECT_FALSE(meet(seen[node], seen[(node + 1) % 3])) << node;
  }
}

TEST(numa, off_they_do) {
  const machine m("2x2");
  served h;
  h.free(h.allocate(1));
  chunks seen[2];
  for (unsigned node = 0; node != 2; ++node)
    on_node(h, m, node, [&] { seen[node] = chunks_of(h, some_of_each(h)); });
  EXPECT_TRUE(meet(seen[0], seen[1]));
}

TEST(numa, on_where_there_is_one_node_is_off) {
  const machine m("1x8");
  served h(by_node);
  h.free(h.allocate(1));
  EXPECT_EQ(numa_policy::off, h.heap.effective_options().numa);
}

TEST(numa, a_lab_goes_to_a_thread_of_its_node) {
  const machine m("2x2");
  served h(by_node);
  h.free(h.allocate(1));
  std::set<mem::lab_number> labs[2];
  for (int round = 0; round != 5; ++round)
    for (unsigned node = 0; node != 2; ++node)
      on_node(h, m, node, [&] {
        h.free(h.allocate(64));
        labs[node].insert(h.own().number);
      });
  for (unsigned node = 0; node != 2; ++node) {
    EXPECT_LE(labs[node].size(), 2u) << "they are used again";
    for (const mem::lab_number n : labs[node]) EXPECT_FALSE(labs[1 - node].contains(n));
  }
}

TEST(numa, remote_frees_go_home) {
  const machine m("2x2");
  served h(by_node);
  h.free(h.allocate(1));
  std::vector<void*> held;
  on_node(h, m, 0, [&] {
    for (int i = 0; i != 1000; ++i) held.push_back(h.allocate(256));
    const chunks mine = chunks_of(h, held);
    on_node(h, m, 1, [&] {
      for (void* p : held) h.free(p);
      for (int i = 0; i != 1000; ++i) EXPECT_FALSE(mine.contains(mem::chunk_of(h.grain_of(h.allocate(256)))));
    });
    for (int i = 0; i != 1000; ++i) EXPECT_TRUE(mine.contains(mem::chunk_of(h.grain_of(h.allocate(256)))));
  });
  EXPECT_EQ(1000u, h.now().remote_frees);
}

// Room for one chunk alone, which is the first thread's: the other has its memory all the same.
TEST(numa, a_full_arena_serves_all_nodes_from_what_there_is) {
  const machine m("2x2");
  options o = by_node;
  o.arena_size = 4 * MiB;
  served h(o);
  h.free(h.allocate(1));
  for (unsigned node = 0; node != 2; ++node)
    on_node(h, m, node, [&] {
      for (std::size_t n = 20'000; n != 40'000; n += 1000) {
        void* const p = h.allocate(n);
        ASSERT_NE(nullptr, p);
        *static_cast<char*>(p) = 1;
        h.free(p);
      }
    });
}

}  // namespace
}  // namespace polder::heap
