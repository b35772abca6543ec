// chunk_map under the model checker: whoever finds a record finds in it what its maker wrote, and no record is lost
// when two make the leaf on the way at once.
#include <polder/heap/supermalloc/chunk_map.hpp>

#include "explore.hpp"

// As much of a record as the map is to publish.
struct polder::heap::supermalloc::chunk {
  plain<int> contents;
};

namespace {

using polder::atomic;
using polder::heap::supermalloc::chunk;
using polder::heap::supermalloc::chunk_map;
using polder::mem::zeroed;

struct mapping : rl::test_suite<mapping, 2> {
  static constexpr std::uintptr_t at(unsigned n) { return std::uintptr_t{n} << chunk_map::chunk_shift; }

  std::byte* const root = reinterpret_cast<std::byte*>(zeroed::make<atomic<void*>>(1));
  chunk_map map{root};
  chunk chunks[2];

  void look(unsigned n) {
    if (chunk* const k = map.find(at(n))) POLDER_MODEL_CHECK(k == &chunks[n] && k->contents.get() == 1);
  }
  void thread(unsigned self) {
    if (self == 1) look(0);  // the leaf may be new to it
    chunks[self].contents.set(1);
    POLDER_MODEL_CHECK(map.store(at(self), &chunks[self]));
    look(1 - self);
  }
  void after() {
    for (unsigned i = 0; i != 2; ++i) POLDER_MODEL_CHECK(map.find(at(i)) == &chunks[i]);
    zeroed::all_end();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<mapping>({.title = "chunk_map: two stores", .how = search::bounded, .floor = 500, .switches = 3});
  return ok ? 0 : 1;
}
