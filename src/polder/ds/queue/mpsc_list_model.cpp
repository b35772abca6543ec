// mpsc_list under the model checker: what two put at once comes out whole, once, and in each one's order.
#include <polder/ds/queue/mpsc_list.hpp>

#include "explore.hpp"
#include "ring_worlds.hpp"

namespace {

using list = polder::ds::mpsc_list<polder::model::element, void, polder::model::apart>;

struct two_putters : rl::test_suite<two_putters, 3>, polder::model::counting<list, 3> {
  int last[2] = {0, 2};  // each putter's: 1, 2 and 3, 4

  void take(unsigned self) {
    const int n = get(self);
    if (n == 0) return;
    int& before = last[(n - 1) / 2];
    POLDER_MODEL_CHECK(n == before + 1);
    before = n;
  }
  void thread(unsigned self) {
    if (self == 2) {
      for (int tries = 0; tries != 3; ++tries) take(2);
    } else {
      put(self, int(2 * self + 1));
      put(self, int(2 * self + 2));
    }
  }
  void after() {
    for (int i = 0; i != 4; ++i) take(0);
    POLDER_MODEL_CHECK(last[0] == 2 && last[1] == 4);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<two_putters>({.title = "mpsc_list: two putters, one getter", .executions = 8'000});
  return ok ? 0 : 1;
}
