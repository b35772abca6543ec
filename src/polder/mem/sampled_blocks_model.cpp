// sampled_blocks under the model checker: nobody's slot is taken, and who walks the table finds blocks as they were added.
#include <polder/mem/sampled_blocks.hpp>

#include "explore.hpp"

namespace {

using polder::at_address;
using polder::mem::sampled_block;
using table = polder::mem::sampled_blocks<1, 2>;

template <unsigned Threads>
struct sampling : rl::test_suite<sampling<Threads>, int(Threads)> {
  table blocks;

  // Each has blocks of its own, which know their bytes and site.
  static sampled_block of(unsigned self) { return {at_address(16 * (self + 1)), self + 1, self + 1}; }

  void come_and_go(unsigned self) {
    for (int round = 0; round != 2; ++round) {
      const sampled_block mine = of(self);
      if (!blocks.add(mine)) continue;  // by what it saw of others, who were there a moment ago
      sampled_block was;
      POLDER_MODEL_CHECK(blocks.remove(mine.block, was));
      POLDER_MODEL_CHECK(was.bytes == mine.bytes && was.site == mine.site);
    }
  }
  void walk() {
    blocks.for_each([](const sampled_block& b) { POLDER_MODEL_CHECK(b.bytes != 0 && b.site != 0); });
  }
  void thread(unsigned self) {
    if (self == 2) walk();
    else come_and_go(self);
  }
  void after() {
    unsigned left = 0;
    blocks.for_each([&](const sampled_block&) { ++left; });
    POLDER_MODEL_CHECK(left == 0);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<sampling<2>>(
      {.title = "sampled_blocks: two come and go", .how = search::bounded, .floor = 10'000, .switches = 2});
  ok &= passes<sampling<3>>({.title = "sampled_blocks: two come and go, one walks", .executions = 40'000});
  return ok ? 0 : 1;
}
