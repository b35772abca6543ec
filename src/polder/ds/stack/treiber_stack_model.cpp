// treiber_stack under the model checker: nothing lost, nothing twice, nothing read that was freed.
#include <polder/ds/stack/treiber_stack.hpp>

#include <optional>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::model::key;

using keeping = polder::model::keeping<3, 1, 8>;
using hazards = polder::model::hazards<3, 1, 8>;

template <class R, unsigned Threads>
struct world {
  typename R::domain domain;
  polder::ds::treiber_stack<key, R> stack{domain};
  int got[Threads][8] = {};  // by element: how often

  void put(int n) { POLDER_MODEL_CHECK(stack.push(key(n))); }
  int get(unsigned self) {
    const std::optional<key> k = stack.pop();
    if (k) ++got[self][k->value()];
    return k ? k->value() : 0;
  }
  // Elements 1 to `last` came out once each, or are there.
  void comes_out(int last) {
    int all[8] = {};
    for (const auto& of : got) {
      for (int n = 1; n != 8; ++n) all[n] += of[n];
    }
    while (const std::optional<key> k = stack.pop()) ++all[k->value()];
    for (int n = 1; n != 8; ++n) POLDER_MODEL_CHECK(all[n] == int(n <= last));
  }
};

template <class R>
struct put_and_get : rl::test_suite<put_and_get<R>, 2>, world<R, 2> {
  void thread(unsigned self) {
    if (self == 0) {
      this->put(1);
      this->put(2);
    } else {
      const int first = this->get(1), second = this->get(1);
      POLDER_MODEL_CHECK(first == 0 || first != second);
    }
  }
  void after() { this->comes_out(2); }
};

// The classic trap: one looks at the top and what is under it, the other takes both and puts one back.
template <class R>
struct top_comes_back : rl::test_suite<top_comes_back<R>, 2>, world<R, 2> {
  void before() {
    this->put(1);
    this->put(2);
  }
  void thread(unsigned self) {
    POLDER_MODEL_CHECK(this->get(self) != 0 || self == 0);
    if (self == 1) {
      this->get(1);
      this->put(3);
    }
  }
  void after() { this->comes_out(3); }
};

template <class R>
struct three : rl::test_suite<three<R>, 3>, world<R, 3> {
  void before() { this->put(4); }
  void thread(unsigned self) {
    this->put(int(self) + 1);
    POLDER_MODEL_CHECK(this->get(self) != 0);
  }
  void after() { this->comes_out(4); }
};

template <class R>
bool all(const char* apart, const char* back, const char* of_three) {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<put_and_get<R>>({.title = apart, .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<top_comes_back<R>>({.title = back, .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<three<R>>({.title = of_three, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= all<keeping>("stack: put and get", "stack: the top comes back", "stack: three threads");
  ok &= all<hazards>("stack, hazards: put and get", "stack, hazards: the top comes back",
                     "stack, hazards: three threads");
  return ok ? 0 : 1;
}
