// by_number under the model checker: a number has one cell, seen as it was made or later, and whoever comes as far as a
// number has passed over none that asked before it.
#include <polder/ds/parts/by_number.hpp>

#include <cstddef>

#include "explore.hpp"

// Relacy has operators new and delete of its own, but for this one.
void operator delete[](void* p, std::size_t) noexcept { operator delete[](p); }

namespace {

using polder::atomic;
using polder::order;
using polder::plain;

struct cell {
  plain<int> made{1};
  atomic<int> uses;  // orders nothing
};

struct world {
  polder::ds::by_number<cell> cells;

  void use(unsigned number) {
    cell& mine = cells.at(number);
    POLDER_MODEL_CHECK(mine.made.get() == 1);
    mine.uses.fetch_add(1, order::relaxed);
  }
  unsigned count(unsigned first) {
    unsigned n = 0;
    cells.each(first, [&](cell& c) {
      POLDER_MODEL_CHECK(c.made.get() == 1);
      ++n;
      return false;
    });
    return n;
  }
};

// Numbers 3 and 4 ask for their cells, which are in rows of their own; a third thread goes through, and is number 2.
struct at_once : rl::test_suite<at_once, 3>, world {
  void thread(unsigned self) {
    if (self != 2) return use(3 + self);
    POLDER_MODEL_CHECK(count(2) <= 3);
    use(2);
  }
  void after() {
    POLDER_MODEL_CHECK(count(2) == 3 && count(5) == 3);
    for (const unsigned number : {2u, 3u, 4u}) POLDER_MODEL_CHECK(cells.at(number).uses.load(order::relaxed) == 1);
  }
};

// They come one after the other, but know no more of that than the structure tells them.
struct in_turn : rl::test_suite<in_turn, 3>, world {
  unsigned turn = 0;

  void thread(unsigned self) {
    while (turn != self) rl::yield(1, polder::model::info(polder::model::place::current()));
    if (self != 2) {
      use(3 + self);
    } else {
      const unsigned n = count(2);
      POLDER_MODEL_CHECK(n != 1);  // 4 alone: with 3's row come 2 and 3
    }
    ++turn;
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<at_once>({.title = "by_number: two ask, one goes through", .executions = 20'000});
  ok &= passes<in_turn>({.title = "by_number: one after the other", .executions = 5'000});
  return ok ? 0 : 1;
}
