// radix_map under the model checker: a value that is found was stored, with all that was written before; nothing stored is
// lost when several make the nodes on the way at once.
#include <polder/mem/radix_map.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::plain;
using polder::mem::grain_size;
using polder::mem::radix_map;
using polder::mem::zeroed;

// Level: the nodes from there on are made by the threads, each its own, and those above before they begin; 0: all of them are
// made by whoever is first.
template <unsigned Threads, unsigned Level = 0>
struct mapping : rl::test_suite<mapping<Threads, Level>, int(Threads)> {
  static constexpr std::uintptr_t at(unsigned n) { return n * (grain_size << 10 * Level); }

  std::byte* const root = reinterpret_cast<std::byte*>(zeroed::make<atomic<void*>>(1));
  radix_map map{root};
  plain<int> things[Threads + 1];

  void before() {
    if (Level != 0) POLDER_MODEL_CHECK(map.store(at(0), 1));
  }
  void look(unsigned n) {
    if (const std::uint32_t v = map.find(at(n))) POLDER_MODEL_CHECK(v == n && things[v].get() == 1);
  }
  void thread(unsigned self) {
    const unsigned mine = self + 1;
    if (self != 2) {
      things[mine].set(1);
      POLDER_MODEL_CHECK(map.store(at(mine), mine));
    }
    look(2 - self % 2);  // the other's
  }
  void after() {
    for (unsigned i = 1; i <= (Threads < 2 ? Threads : 2); ++i) POLDER_MODEL_CHECK(map.find(at(i)) == i);
    zeroed::all_end();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<mapping<2>>({.title = "radix_map: two stores", .how = search::bounded, .floor = 500, .switches = 3});
  ok &= passes<mapping<2, 1>>(
      {.title = "radix_map: leaves of their own", .how = search::bounded, .floor = 500, .switches = 3});
  ok &= passes<mapping<2, 2>>(
      {.title = "radix_map: lower nodes of their own", .how = search::bounded, .floor = 500, .switches = 3});
  ok &= passes<mapping<3>>({.title = "radix_map: two stores, a reader", .executions = 20'000});
  return ok ? 0 : 1;
}
