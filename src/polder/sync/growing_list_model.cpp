// growing_list under the model checker: a walk meets members as they were when they were pushed, and at the end each
// once.
#include <polder/sync/growing_list.hpp>

#include "explore.hpp"

namespace {

using polder::plain;

struct member {
  plain<int> contents;
  plain<member*> next;
};

struct pushes_and_walks : rl::test_suite<pushes_and_walks, 3> {
  polder::growing_list<member, &member::next> list;
  member members[3];

  void push(unsigned n) {
    members[n].contents.set(int(n) + 1);
    list.push(members[n]);
  }
  void walk() const {
    list.each([&](member& m) { POLDER_MODEL_CHECK(m.contents.get() == int(&m - members) + 1); });
  }
  void before() { push(2); }
  void thread(unsigned self) {
    if (self == 2) walk();
    else push(self);
  }
  void after() {
    int met[3] = {};
    list.each([&](member& m) { ++met[&m - members]; });
    for (const int times : met) POLDER_MODEL_CHECK(times == 1);
  }
};

}  // namespace

int main() {
  using namespace polder::model;
  return passes<pushes_and_walks>({.title = "growing_list", .how = search::complete, .floor = 100}) ? 0 : 1;
}
