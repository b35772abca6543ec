// install_once under the model checker: all threads have the same thing, as its maker left it, and no other is left over.
#include <polder/sync/install_once.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;

struct thing {
  plain<int> contents;
  plain<int> discarded;
};

template <unsigned Threads>
struct installing : rl::test_suite<installing<Threads>, int(Threads)> {
  atomic<thing*> slot{nullptr};
  thing made[Threads];
  plain<int> of_thread[Threads];
  plain<int> had[Threads];

  void use(unsigned self, thing* t) {
    POLDER_MODEL_CHECK(t->contents.get() == 1);
    had[self].set(int(t - made));
  }
  void thread(unsigned self) {
    if (self == 2) {  // only looks
      if (thing* const t = slot.load(order::acquire)) POLDER_MODEL_CHECK(t->contents.get() == 1);
      return;
    }
    const auto make = [&] {
      made[self].contents.set(1);
      of_thread[self].set(1);
      return &made[self];
    };
    const auto discard = [](thing* t) {
      t->contents.set(0);
      t->discarded.set(1);
    };
    use(self, polder::install_once(slot, make, discard));
    use(self, polder::install_once(slot, make, discard));
  }
  void after() {
    thing* const t = slot.load(order::acquire);
    POLDER_MODEL_CHECK(t->contents.get() == 1);
    for (unsigned i = 0; i != (Threads < 2 ? Threads : 2); ++i) {
      POLDER_MODEL_CHECK(had[i].get() == int(t - made));
      POLDER_MODEL_CHECK(made[i].discarded.get() == (of_thread[i].get() == 1 && t != &made[i] ? 1 : 0));
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<installing<2>>({.title = "install_once: two makers", .how = search::complete, .floor = 50});
  ok &= passes<installing<3>>(
      {.title = "install_once: two makers, one reader", .how = search::bounded, .floor = 200, .switches = 4});
  return ok ? 0 : 1;
}
