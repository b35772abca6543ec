// descriptor_stack under the model checker: a descriptor has one holder, what is known of it travels with it, none is lost
// for good, and one that is about to be popped is not pushed again.
#include <polder/heap/michael/descriptor_stack.hpp>

#include "explore.hpp"

namespace {

using polder::atomic;
using polder::plain;
using polder::heap::michael::descriptor_stack;

constexpr unsigned things = 3;

struct thing {
  atomic<thing*> next;
  plain<int> contents;
};

template <unsigned Slots>
struct stocked {
  thing all[things];
  descriptor_stack<thing, Slots> stack;

  void stock() {
    for (thing& t : all) stack.retire(t);
  }
  thing* take() {
    thing* const t = stack.take();
    if (t) t->contents.set(t->contents.get() + 1);
    return t;
  }
  void retire(thing* t) {
    if (!t) return;
    t->contents.set(t->contents.get() + 1);
    stack.retire(*t);
  }
  void all_there() {
    bool seen[things] = {};
    unsigned n = 0;
    stack.each([&](const thing& t) {
      POLDER_MODEL_CHECK(!seen[&t - all]);
      seen[&t - all] = true;
      ++n;
    });
    POLDER_MODEL_CHECK(n == things);
  }
};

// The classic trap: one thread pops while the other takes two and returns the first.
struct aba : rl::test_suite<aba, 2>, stocked<2> {
  void before() { stock(); }
  void thread(unsigned self) {
    if (self == 0) {
      retire(take());
    } else {
      thing* const first = take();
      thing* const second = take();
      retire(first);
      retire(second);
    }
  }
  void after() { all_there(); }
};

template <unsigned Slots>
struct three : rl::test_suite<three<Slots>, 3>, stocked<Slots> {
  void before() { this->stock(); }
  void thread(unsigned) {
    thing* const first = this->take();
    thing* const second = this->take();
    this->retire(first);
    this->retire(second);
  }
  void after() { this->all_there(); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<aba>({.title = "descriptor_stack: take against take, take, retire",
                     .how = search::bounded,
                     .floor = 1'000,
                     .switches = 2});
  ok &= passes<aba>({.title = "descriptor_stack: take against take, take, retire", .executions = 20'000});
  ok &= passes<three<3>>(
      {.title = "descriptor_stack: three holders", .how = search::bounded, .floor = 1'000, .switches = 1});
  ok &= passes<three<3>>({.title = "descriptor_stack: three holders", .executions = 20'000});
  ok &= passes<three<1>>(
      {.title = "descriptor_stack: one slot for three", .how = search::bounded, .floor = 1'000, .switches = 1});
  return ok ? 0 : 1;
}
