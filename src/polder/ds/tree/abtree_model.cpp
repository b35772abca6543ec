// abtree under the model checker, with two or three children a node, so that nearly each update splits or joins.
#include <polder/ds/tree/abtree.hpp>

#include "explore.hpp"
#include "structures.hpp"

// Relacy replaces the other one alone; a range's vector calls this.
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

using polder::model::key;
using polder::model::none;

using keeping = polder::model::keeping<3, 6, 96>;
using hazards = polder::model::hazards<3, 6, 96>;

template <class R>
struct world {
  typename R::domain domain;
  polder::ds::abtree<key, none, R, 2, 3> map{domain};

  bool insert(int k) { return map.insert(key(k)); }
  bool erase(int k) { return map.erase(key(k)); }
  bool contains(int k) { return map.contains(key(k)); }
};

// Whatever succeeded, for each key: insertions less removals are what is there.
template <class R, unsigned Threads>
struct counted : world<R> {
  static constexpr int keys = 6;
  int balance[keys + 1][Threads] = {};
  void put(unsigned self, int k) { balance[k][self] += this->insert(k); }
  void drop(unsigned self, int k) { balance[k][self] -= this->erase(k); }
  void comes_out() {
    for (int k = 1; k != keys + 1; ++k) {
      int sum = 0;
      for (const int b : balance[k]) sum += b;
      POLDER_MODEL_CHECK(sum == int(this->contains(k)));
    }
    this->map.validate();
  }
};

// One splits a leaf where the other leaves its sibling too small.
template <class R>
struct split_and_join : rl::test_suite<split_and_join<R>, 2>, counted<R, 2> {
  void before() {
    for (int k = 1; k != 5; ++k) this->put(0, k);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 5);
      this->put(0, 6);
    } else {
      this->drop(1, 1);
      this->drop(1, 2);
    }
  }
  void after() { this->comes_out(); }
};

// Both join, and the root goes.
template <class R>
struct down_to_the_root : rl::test_suite<down_to_the_root<R>, 2>, counted<R, 2> {
  void before() {
    for (int k = 1; k != 7; ++k) this->put(0, k);
  }
  void thread(unsigned self) {
    for (int k = 1 + int(self); k < 6; k += 2) this->drop(self, k);
    POLDER_MODEL_CHECK(this->contains(6));
  }
  void after() { this->comes_out(); }
};

template <class R>
struct three : rl::test_suite<three<R>, 3>, counted<R, 3> {
  void before() {
    for (int k = 1; k != 5; ++k) this->put(0, k);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->drop(0, 2);
      this->drop(0, 3);
    } else if (self == 1) {
      this->put(1, 5);
      this->drop(1, 1);
    } else {
      POLDER_MODEL_CHECK(this->contains(4));
      this->put(2, 6);
    }
  }
  void after() { this->comes_out(); }
};

// A range is what there was at one moment: 6 came after 1, in another leaf.
struct one_ranges : rl::test_suite<one_ranges, 2>, counted<keeping, 2> {
  void before() {
    for (int k = 2; k != 6; ++k) this->put(0, k);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->put(0, 1);
      this->put(0, 6);
    } else {
      int last = 0, sum = 0;
      this->map.range(key(1), key(6), [&](const key& k, const none&) {
        POLDER_MODEL_CHECK(k.value() > last);
        last = k.value();
        sum += last;
      });
      POLDER_MODEL_CHECK(sum == 14 || sum == 15 || sum == 21);
    }
  }
  void after() { this->comes_out(); }
};

template <class R>
bool all(const char* splits, const char* joins, const char* of_three, rl::iteration_t executions) {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<split_and_join<R>>({.title = splits, .executions = executions});
  ok &= passes<down_to_the_root<R>>({.title = joins, .executions = executions});
  ok &= passes<three<R>>({.title = of_three, .executions = executions});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= polder::model::passes<split_and_join<keeping>>(
      {.title = "abtree: splits and joins", .how = polder::model::search::bounded, .floor = 100, .switches = 1});
  ok &= polder::model::passes<one_ranges>(
      {.title = "abtree: a range", .how = polder::model::search::bounded, .floor = 100, .switches = 3});
  ok &= all<keeping>("abtree: splits and joins", "abtree: down to the root", "abtree: three threads", 10'000);
  ok &= all<hazards>("abtree, hazards: splits and joins", "abtree, hazards: down to the root",
                     "abtree, hazards: three threads", 10'000);
  return ok ? 0 : 1;
}
