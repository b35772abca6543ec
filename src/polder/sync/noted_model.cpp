// noted under the model checker: what was put into a place is found by whoever goes by the summary.
#include <polder/sync/noted.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;

constexpr std::uint64_t bit = 4;

struct place {
  atomic<std::uint64_t> summary{0};
  atomic<std::uint32_t> things{0};

  void put(std::uint32_t thing) {
    things.fetch_or(thing, order::relaxed);
    polder::note(summary, bit);
  }
  bool any() { return things.load(order::relaxed) != 0; }
  void search() {
    if ((summary.load(order::relaxed) & bit) == 0) return;
    if (any()) {
      things.fetch_and(~std::uint32_t{1}, order::relaxed);  // takes one of them
    } else {
      polder::forget(summary, bit, [this] { return any(); });
    }
  }
  void found() { POLDER_MODEL_CHECK(!any() || (summary.load(order::relaxed) & bit) != 0); }
};

// The bit is set and there is nothing: left by one who took the last thing.
struct putter_and_searcher : rl::test_suite<putter_and_searcher, 2>, place {
  void before() { summary.store(bit, order::relaxed); }
  void thread(unsigned self) {
    if (self == 0) {
      put(2);
    } else {
      search();
      search();
    }
  }
  void after() { found(); }
};

struct two_of_each : rl::test_suite<two_of_each, 3>, place {
  void before() { put(1); }
  void thread(unsigned self) {
    if (self == 0) {
      put(2);
      search();
    } else {
      search();
      search();
      if (self == 2) put(4);
    }
  }
  void after() { found(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<putter_and_searcher>({.title = "noted: putter and searcher", .how = search::complete, .floor = 100});
  ok &= passes<two_of_each>({.title = "noted: three", .how = search::bounded, .floor = 1'000, .switches = 3});
  ok &= passes<two_of_each>({.title = "noted: three", .executions = 30'000});
  return ok ? 0 : 1;
}
