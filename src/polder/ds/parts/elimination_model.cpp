// elimination under the model checker: a node goes to one who pops or stays with who pushed it.
#include <polder/ds/parts/elimination.hpp>

#include "explore.hpp"

namespace {

using polder::plain;

struct node {
  alignas(8) plain<int> owner;
};

// Everybody works at one slot. Who has a node writes it: two who have it race.
template <unsigned Threads>
struct world {
  polder::ds::elimination<node> slots{1};
  node nodes[4];
  int kept[Threads][4] = {};

  static auto looks(int n) {
    return [n]() mutable { return n-- > 0; };
  }
  void own(unsigned self, node* n) {
    n->owner.set(int(self));
    ++kept[self][n - nodes];
  }
  bool push(unsigned self, int i) {
    nodes[i].owner.set(int(self));
    const bool given = slots.give(0, &nodes[i], looks(1));
    if (!given) own(self, &nodes[i]);
    return given;
  }
  bool pop(unsigned self) {
    node* const n = slots.take(0, looks(1));
    if (n != nullptr) own(self, n);
    return n != nullptr;
  }
  void each_is_kept_once(int pushed) {
    for (int i = 0; i != pushed; ++i) {
      int keepers = 0;
      for (const auto& of : kept) keepers += of[i];
      POLDER_MODEL_CHECK(keepers == 1);
    }
    // The slot is free again: nobody is there to meet.
    POLDER_MODEL_CHECK(slots.take(0, looks(0)) == nullptr);
    POLDER_MODEL_CHECK(!slots.give(0, &nodes[0], looks(0)));
  }
};

struct one_pair : rl::test_suite<one_pair, 2>, world<2> {
  bool met[2] = {};
  void thread(unsigned self) { met[self] = self == 0 ? push(0, 0) : pop(1); }
  void after() {
    POLDER_MODEL_CHECK(met[0] == met[1]);
    each_is_kept_once(1);
  }
};

// A slot is used again at once, by the same node too.
struct again : rl::test_suite<again, 2>, world<2> {
  void thread(unsigned self) {
    if (self == 0) {
      if (!push(0, 0)) {
        --kept[0][0];
        push(0, 0);
      }
      push(0, 1);
    } else {
      pop(1);
      pop(1);
    }
  }
  void after() { each_is_kept_once(2); }
};

struct two_push : rl::test_suite<two_push, 3>, world<3> {
  void thread(unsigned self) {
    if (self == 2) {
      pop(2);
      pop(2);
    } else {
      push(self, int(self));
    }
  }
  void after() { each_is_kept_once(2); }
};

struct two_pop : rl::test_suite<two_pop, 3>, world<3> {
  void thread(unsigned self) {
    if (self == 2) {
      push(2, 0);
      push(2, 1);
    } else {
      pop(self);
    }
  }
  void after() { each_is_kept_once(2); }
};

}  // namespace

int main() {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<one_pair>({.title = "elimination: one pair", .how = search::bounded, .floor = 100, .switches = 4});
  ok &= passes<again>({.title = "elimination: again", .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<again>({.title = "elimination: again", .executions = 20'000});
  ok &= passes<two_push>({.title = "elimination: two push", .executions = 20'000});
  ok &= passes<two_pop>({.title = "elimination: two pop", .executions = 20'000});
  return ok ? 0 : 1;
}
