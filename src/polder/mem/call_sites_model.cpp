// call_sites under the model checker: a stack that is found is whole, and no count is lost.
#include <polder/mem/call_sites.hpp>

#include "explore.hpp"

namespace {

using table = polder::mem::call_sites<4, 2>;

template <unsigned Threads>
struct finding : rl::test_suite<finding<Threads>, int(Threads)> {
  table sites;
  int frames[3];

  void count(void* inner) {
    void* const stack[2] = {inner, &frames[2]};
    const std::uint32_t n = sites.find(stack, 2);
    sites.drawn(n, 10);
  }
  void read() {
    sites.for_each([&](std::uint32_t n) {
      void* innermost = nullptr;
      sites.for_each_frame(n, [&](void* f) {
        if (innermost == nullptr) innermost = f;
        else POLDER_MODEL_CHECK(f == &frames[2]);
      });
      POLDER_MODEL_CHECK(innermost == nullptr || innermost == &frames[0] || innermost == &frames[1]);
    });
  }
  void thread(unsigned self) {
    if (self == 2) return read();
    count(&frames[0]);
    count(&frames[self]);
  }
  void after() {
    std::uint64_t blocks = 0, bytes = 0;
    sites.for_each([&](std::uint32_t n) { blocks += sites.of(n).drawn_blocks, bytes += sites.of(n).drawn_bytes; });
    POLDER_MODEL_CHECK(blocks == 4 && bytes == 40);
    read();
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<finding<2>>(
      {.title = "call_sites: two with the same", .how = search::bounded, .floor = 500, .switches = 2});
  ok &= passes<finding<3>>({.title = "call_sites: two with the same, one reads", .executions = 40'000});
  return ok ? 0 : 1;
}
