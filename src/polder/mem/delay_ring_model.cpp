// delay_ring under the model checker: each block that was put comes out once, and whoever lets it go finds what was done to it.
#include <polder/mem/delay_ring.hpp>

#include "explore.hpp"

namespace {

using polder::plain;

struct block {
  plain<int> contents;  // 1: as its last user left it, 2: let go
  plain<std::size_t> bytes;
};

template <std::size_t Room, std::size_t MostBytes>
struct world {
  static constexpr unsigned each = 3, threads = 2;
  polder::mem::delay_ring_of<Room, MostBytes> ring;
  block blocks[threads * each + Room];

  void put(block& mine, std::size_t bytes) {
    mine.contents.set(1);
    mine.bytes.set(bytes);
    ring.put(&mine, bytes, [](void* p) {
      block& b = *static_cast<block*>(p);
      POLDER_MODEL_CHECK(b.contents.get() == 1);
      b.contents.set(2);
      return b.bytes.get();
    });
  }
  // Others take every slot over.
  void all_come_out() {
    for (unsigned n = 0; n != Room; ++n) put(blocks[threads * each + n], 0);
    for (unsigned n = 0; n != threads * each; ++n) POLDER_MODEL_CHECK(blocks[n].contents.get() == 2);
  }
};

// The room drives them out, or the bytes.
template <std::size_t Room, std::size_t MostBytes>
struct two_put : rl::test_suite<two_put<Room, MostBytes>, 2>, world<Room, MostBytes> {
  void thread(unsigned self) {
    for (unsigned n = 0; n != this->each; ++n) this->put(this->blocks[self * this->each + n], 1);
  }
  void after() { this->all_come_out(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<two_put<2, 24>>(
      {.title = "delay_ring: as many as there is room for", .how = search::bounded, .floor = 500, .switches = 2});
  ok &= passes<two_put<8, 4>>({.title = "delay_ring: as long as may be", .executions = 10'000});
  return ok ? 0 : 1;
}
