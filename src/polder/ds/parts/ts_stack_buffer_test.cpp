// ts_stack_buffer, step by step: what its guards are given to read from.
#include <polder/ds/parts/ts_stack_buffer.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include <polder/ds/parts/clock.hpp>

namespace polder::ds {
namespace {

struct no_header {};
struct no_memory {};
using buffer = ts_stack_buffer<long, point, no_header, no_memory>;

// Keeps all nodes, and notes which words it reads.
struct noting {
  template <class W>
  auto protect(unsigned, const atomic<W>& source) {
    read.push_back(&source);
    const W seen = source.load(order::acquire);
    return seen;
  }
  void retire(buffer::node*) {}
  std::vector<const void*> read;
};

template <class Whole>
bool inside(const void* word, const Whole& whole) {
  const std::less<const void*> before;
  return !before(word, &whole) && before(word, &whole + 1);
}

// A scheme that helps may read from a word for a thread that has gone on: it must be there as long as the structure.
TEST(ts_stack_buffer, guards_read_from_the_buffer_and_its_nodes_alone) {
  const auto of = std::make_unique<buffer>();
  std::vector<std::unique_ptr<buffer::node>> nodes;
  noting g;
  for (long i = 0; i != 4; ++i) {
    nodes.push_back(std::make_unique<buffer::node>(long(i)));
    of->put(g, nodes.back().get());
    if (i != 1) continue;
    // Below what is put next, so that the owner looks at a node's word too.
    ASSERT_TRUE(of->take(nodes[0].get()));
    nodes[0]->element.take();
  }
  ASSERT_FALSE(g.read.empty());
  for (const void* word : g.read) {
    bool stays = inside(word, *of);
    for (const auto& n : nodes) stays |= inside(word, *n);
    EXPECT_TRUE(stays);
  }
  for (buffer::node* n; (n = of->youngest(g)) != nullptr;) {
    ASSERT_TRUE(of->take(n));
    n->element.take();
    of->bury(g, n);
  }
}

}  // namespace
}  // namespace polder::ds
