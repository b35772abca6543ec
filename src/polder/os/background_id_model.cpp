// background_id under the model checker: one starts at a time, and finds what the one before had mapped, whether that was refused
// a thread or the thread has ended.
#include <polder/os/background_id.hpp>

#include "explore.hpp"

namespace {

using polder::order;
using polder::plain;

struct starting : rl::test_suite<starting, 3> {
  polder::os::background_id id;
  plain<unsigned> memory, body, mapped;

  // The kernel's two stores, and the thread's own look between them.
  void run(unsigned number) {
    id.for_kernel().store(number, order::relaxed);
    POLDER_MODEL_CHECK(id.is_any() && memory.get() != 0 && body.get() == number);
    id.for_kernel().store(0, order::release);
  }
  void start(unsigned number, bool refuses) {
    if (!id.begin()) return;
    if (memory.get() == 0) {
      memory.set(number);
      mapped.set(mapped.get() + 1);
    }
    body.set(number);
    if (refuses) id.refused();
    else run(number);
  }
  void thread(unsigned self) {
    start(self + 1, self == 0);
    start(self + 1, self == 1);
  }
  void after() { POLDER_MODEL_CHECK(!id.is_any() && mapped.get() == 1); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<starting>({.title = "background_id: starting", .executions = 10'000});
  return ok ? 0 : 1;
}
