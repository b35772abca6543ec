// abtree under the model checker, with two or three children a node, so that nearly each update splits or joins.
#include <polder/ds/tree/abtree.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "explore.hpp"
#include "structures.hpp"

// Relacy replaces the other one alone; a range's vector calls this.
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

using polder::atomic;
using polder::order;
using polder::model::keeping;
using polder::model::key;
using polder::model::none;
using polder::model::protection;
using polder::model::protects_what;

constexpr unsigned slots = 5, guards = 5, nodes = 96;

using hazards = polder::model::hazards<guards, slots>;

template <class R>
struct world;

template <class R>
struct scheme {
  static constexpr protects_what info = R::info;
  struct header {};
  using domain = world<R>;
  template <unsigned>
  struct guard;
};

template <class R>
struct world {
  using tree = polder::ds::abtree<key, none, scheme<R>, 2, 3>;
  static constexpr std::size_t largest = std::max(sizeof(typename tree::leaf), sizeof(typename tree::inner));
  struct freed_later {
    void* node = nullptr;
    void (*free)(void*) = nullptr;
  };

  typename R::domain hazard;
  alignas(16) std::byte room[nodes][largest];
  void (*destroy[nodes])(void*) = {};
  atomic<unsigned> used{0};
  freed_later waiting[guards][nodes] = {};
  std::optional<tree> map;

  world() { map.emplace(*this); }
  ~world() {
    map.reset();
    for (unsigned i = 0; i != used.load(order::relaxed); ++i) destroy[i](room[i]);
  }
  bool insert(unsigned, int k) { return map->insert(key(k)); }
  bool erase(unsigned, int k) { return map->erase(key(k)); }
  bool contains(unsigned, int k) { return map->contains(key(k)); }
};

template <class R>
template <unsigned N>
struct scheme<R>::guard {
  world<R>& w;
  const unsigned self = unsigned(rl::ctx().current_thread() + 1) % guards;
  explicit guard(world<R>& of) : w(of) {}
  ~guard() {
    if constexpr (R::info.protects == protection::pointer) {
      for (auto& h : w.hazard.held[self]) h.store(nullptr, order::release);
    }
  }
  template <class W>
  W protect(unsigned slot, const atomic<W>& word) {
    W now = word.load(order::acquire);
    if constexpr (R::info.protects == protection::pointer) {
      for (;;) {
        w.hazard.held[self][slot].store(address_of(now), order::release);
        polder::fence(order::seq_cst);
        const W again = word.load(order::acquire);
        if (again == now) break;
        now = again;
      }
    }
    return now;
  }
  template <class T, class... Arguments>
  T* make(Arguments&&... arguments) {
    const unsigned i = w.used.fetch_add(1, order::relaxed);
    POLDER_MODEL_CHECK(i < nodes);
    w.destroy[i] = [](void* p) { static_cast<T*>(p)->~T(); };
    return new (w.room[i]) T(std::forward<Arguments>(arguments)...);
  }
  template <class T>
  static void poison(void* p) {
    T* const n = static_cast<T*>(p);
    constexpr unsigned less = std::is_same_v<T, typename world<R>::tree::leaf> ? 0 : 1;
    for (unsigned i = 0; i + less < n->size; ++i) const_cast<key&>(n->keys[i]).number.set(-1);
  }
  template <class T>
  void unmake(T* n) {
    poison<T>(n);
  }
  template <class T>
  void retire(T* n) {
    if constexpr (R::info.protects == protection::pointer) {
      for (auto& place : w.waiting[self]) {
        if (place.node == nullptr) {
          place = {n, &poison<T>};
          break;
        }
      }
      polder::fence(order::seq_cst);
      for (auto& place : w.waiting[self]) {
        if (place.node != nullptr && !held(place.node)) place.free(std::exchange(place.node, nullptr));
      }
    }
  }
  bool held(const void* n) {
    for (auto& thread : w.hazard.held) {
      for (auto& h : thread) {
        if (h.load(order::acquire) == n) return true;
      }
    }
    return false;
  }
};

// Whatever succeeded, for each key: insertions less removals are what is there.
template <class R, unsigned Threads>
struct counted : world<R> {
  static constexpr int keys = 6;
  int balance[keys + 1][Threads] = {};
  void put(unsigned self, int k) { balance[k][self] += this->insert(self, k); }
  void drop(unsigned self, int k) { balance[k][self] -= this->erase(self, k); }
  void comes_out() {
    for (int k = 1; k != keys + 1; ++k) {
      int sum = 0;
      for (const int b : balance[k]) sum += b;
      POLDER_MODEL_CHECK(sum == int(this->contains(0, k)));
    }
    this->map->validate();
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
    POLDER_MODEL_CHECK(this->contains(self, 6));
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
      POLDER_MODEL_CHECK(this->contains(2, 4));
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
      this->map->range(key(1), key(6), [&](const key& k, const none&) {
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
