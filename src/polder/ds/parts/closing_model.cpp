// closing under the model checker: when it is settled, all that was put is there, and nothing more comes.
#include <polder/ds/parts/closing.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::plain;

// What is put is counted by steps that order nothing, so that the end alone says that all of it is there.
template <unsigned Threads>
struct puts_and_an_end : rl::test_suite<puts_and_an_end<Threads>, int(Threads)> {
  polder::ds::closing end;
  plain<int> elements[2];
  atomic<int> inside;
  int put = 0;       // the putter's
  int seen[2] = {};  // when it was settled; -1: it was open

  bool put_one() {
    const polder::ds::closing::under_way here(end, 1);
    if (end.closed()) return false;
    elements[put].set(1);
    inside.store(put + 1, order::relaxed);
    return true;
  }
  int settled() {
    end.settle([] {
      rl::yield(1, polder::model::info(polder::model::place::current()));
      return true;
    });
    const int n = inside.load(order::relaxed);
    for (int i = 0; i != n; ++i) POLDER_MODEL_CHECK(elements[i].get() == 1);
    return n;
  }
  void thread(unsigned self) {
    if (self == 0) {
      while (put != 2 && put_one()) ++put;
    } else if (self == 1) {
      end.close();
      if (Threads == 2) seen[0] = settled();
    } else {
      seen[0] = end.closed() ? settled() : -1;
      seen[1] = end.closed() ? settled() : -1;
    }
  }
  void after() {
    for (const int n : {seen[0], Threads == 2 ? -1 : seen[1]}) POLDER_MODEL_CHECK(n == -1 || n == put);
    POLDER_MODEL_CHECK(!put_one() && settled() == put);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<puts_and_an_end<2>>(
      {.title = "closing: puts, and who closes", .how = search::bounded, .floor = 50, .switches = 3});
  ok &= passes<puts_and_an_end<3>>({.title = "closing: who closes, and who waits", .executions = 20'000});
  return ok ? 0 : 1;
}
