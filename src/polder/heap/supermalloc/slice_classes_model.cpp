// slice_classes under the model checker: an address that is asked about while its slice passes from one class to the
// next is never held against the former life's record.
#include <polder/heap/supermalloc/slice_classes.hpp>
#include <polder/sync/owned_lock.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::owned_lock;
using polder::plain;

// As folio.hpp has it: bytes that were handed out.
constexpr std::uint32_t former = 9, first_block = 1;
constexpr unsigned old_class = 1, new_class = 2;

struct passed_on : rl::test_suite<passed_on, 3> {
  polder::heap::supermalloc::slice_classes<1> classes;
  atomic<std::uint32_t> bumped;
  owned_lock source;
  plain<int> is_free;

  template <class F>
  void locked(F f) {
    const auto me = owned_lock::mark(rl::ctx().current_thread() + 1);
    source.lock(me, [](owned_lock::mark) { rl::yield(1, polder::model::info(polder::model::place::current())); });
    f();
    source.unlock([] {});
  }
  void before() {
    classes.take(0, old_class);
    bumped.store(former, order::relaxed);
  }
  void thread(unsigned self) {
    if (self == 0) {
      classes.give(0);
      bumped.store(0, order::relaxed);
      locked([&] { is_free.set(1); });
    } else if (self == 1) {
      bool mine = false;
      locked([&] {
        mine = is_free.get() == 1;
        if (mine) is_free.set(0), classes.take(0, new_class);
      });
      if (mine) bumped.store(first_block, order::relaxed);
    } else if (classes.at(0) == new_class) {
      POLDER_MODEL_CHECK(bumped.load(order::relaxed) <= first_block);
    }
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  return passes<passed_on>({.title = "slice_classes", .how = search::bounded, .floor = 100}) ? 0 : 1;
}
