// marked_list under the model checker: what is linked is whole, what was erased is gone, nothing is read that was freed.
#include <polder/ds/tree/marked_list.hpp>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::model::key;
using polder::model::none;

using keeping = polder::model::keeping<3, 3, 10>;
using hazards = polder::model::hazards<3, 3, 10>;

template <class R>
struct world {
  using list = polder::ds::marked_list<key, none, R>;
  using guard = typename R::template guard<3>;

  typename R::domain domain;
  typename list::head first;

  bool insert(int k) {
    guard g(domain);
    return list::insert(g, first, key(k), none{});
  }
  bool erase(int k) {
    guard g(domain);
    return list::erase(g, first, key(k), [](none) {});
  }
  bool contains(int k) {
    guard g(domain);
    return list::look(g, first, key(k)) != nullptr;
  }
  bool at_rest(int k) {
    bool there = false;
    list::each(first, [&](const auto& n) { there |= n.key.value() == k; });
    return there;
  }
};

// Whatever succeeded, for each key: insertions less removals are what is there.
template <class R, unsigned Threads>
struct counted : world<R> {
  int balance[4][Threads] = {};
  void put(unsigned self, int k) { balance[k][self] += this->insert(k); }
  void drop(unsigned self, int k) { balance[k][self] -= this->erase(k); }
  void comes_out() {
    for (int k = 1; k != 4; ++k) {
      int sum = 0;
      for (const int b : balance[k]) sum += b;
      POLDER_MODEL_CHECK(sum == int(this->at_rest(k)));
    }
    world<R>::list::validate(this->first);
  }
};

// Two remove neighbours: the classic trap of a list without marks.
template <class R>
struct neighbours : rl::test_suite<neighbours<R>, 2>, counted<R, 2> {
  void before() {
    for (int k = 1; k != 4; ++k) this->put(0, k);
  }
  void thread(unsigned self) { this->drop(self, self == 0 ? 1 : 2); }
  void after() { this->comes_out(); }
};

// One inserts where the other removes, and both take the same key.
template <class R>
struct crossing : rl::test_suite<crossing<R>, 2>, counted<R, 2> {
  void before() {
    this->put(0, 1);
    this->put(0, 3);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->drop(0, 1);
      this->put(0, 1);
    } else {
      this->put(1, 2);
      this->drop(1, 1);
      POLDER_MODEL_CHECK(this->contains(2));
    }
  }
  void after() { this->comes_out(); }
};

template <class R>
struct three : rl::test_suite<three<R>, 3>, counted<R, 3> {
  void before() {
    this->put(0, 1);
    this->put(0, 2);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->drop(0, 1);
      this->drop(0, 2);
    } else if (self == 1) {
      this->put(1, 3);
      this->drop(1, 2);
    } else {
      this->contains(2);
      this->drop(2, 3);
    }
  }
  void after() { this->comes_out(); }
};

template <class R>
bool all(const char* two, const char* crossed, const char* of_three) {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<neighbours<R>>({.title = two, .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<crossing<R>>({.title = crossed, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<crossing<R>>({.title = crossed, .executions = 20'000});
  ok &= passes<three<R>>({.title = of_three, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= all<keeping>("list: neighbours", "list: crossing", "list: three threads");
  ok &= all<hazards>("list, hazards: neighbours", "list, hazards: crossing", "list, hazards: three threads");
  return ok ? 0 : 1;
}
